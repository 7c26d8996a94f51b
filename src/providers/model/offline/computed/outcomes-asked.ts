/** "the no-show rate", "the share of returned orders": the outcome that a question counts, and the column that has it. */
import type { RowValue } from '../../../table/queries/query.ts';
import { withoutAccents } from '../../../table/without-accents.ts';
import { wordSet } from '../../../table/word-set.ts';
import { type Column, likeness } from './columns-meant.ts';
import type { Word } from './question-tokens.ts';

type Concept = { name: string; stems: readonly string[]; opposite?: string };

/** A word is of the concept if it begins with one of the stems, written without accents. */
const concepts: readonly Concept[] = [
  { name: 'cancelled', stems: ['cancel', 'storn', 'annul', 'abgesagt', 'absage', 'abgebrochen'] },
  { name: 'returned', stems: ['returned', 'returns', 'return', 'retour', 'zuruckge', 'ruckgabe', 'devuelt', 'devoluc', 'resi', 'reso'] },
  { name: 'refunded', stems: ['refund', 'erstatt', 'rembours', 'reembols', 'rimbors'] },
  { name: 'passed', stems: ['pass', 'bestand', 'reussi', 'admis', 'aprob', 'superat', 'promoss'], opposite: 'failed' },
  {
    name: 'failed',
    stems: ['fail', 'durchgefall', 'fehlgeschlag', 'nichtbestand', 'echou', 'echec', 'refus', 'suspen', 'fallit', 'bocciat'],
    opposite: 'passed',
  },
  {
    name: 'no-show',
    stems: ['no-show', 'noshow', 'absent', 'ausgefall', 'ausfall', 'nichterschein', 'lapin', 'ausente', 'ausenc', 'assent', 'missed'],
    opposite: 'shown',
  },
  {
    name: 'shown',
    stems: ['showed', 'shown', 'attend', 'appeared', 'present', 'erschien', 'anwesen', 'venu', 'asist', 'presente'],
    opposite: 'no-show',
  },
  { name: 'rejected', stems: ['reject', 'abgelehn', 'ablehn', 'rejet', 'rechaz', 'rifiut', 'declin', 'denied'], opposite: 'accepted' },
  { name: 'accepted', stems: ['accept', 'approv', 'angenomm', 'genehm', 'acept', 'accett'], opposite: 'rejected' },
  { name: 'sold', stems: ['sold', 'verkauf', 'vendu', 'vendid', 'vendut'] },
  { name: 'paid', stems: ['paid', 'bezahl', 'paye', 'pagad', 'pagat'], opposite: 'unpaid' },
  { name: 'unpaid', stems: ['unpaid', 'unbezahl', 'impaye', 'impagad'], opposite: 'paid' },
  { name: 'completed', stems: ['complet', 'erledig', 'abgeschloss', 'termine', 'finished', 'done', 'delivered', 'geliefert', 'livre'] },
  { name: 'damaged', stems: ['damag', 'beschadig', 'endommag', 'danad', 'dannegg', 'broken', 'defect', 'defekt'] },
  { name: 'renewed', stems: ['renew', 'verlanger', 'erneuer', 'renouvel', 'renov', 'rinnov'] },
  { name: 'reported', stems: ['escalat', 'eskal', 'reopened', 'reopen'] },
];
/** Concepts that also say what is done with a quantity. */
const verbs = wordSet('sold paid completed');
const negations = wordSet('not no nicht kein keine keinen ne pas non sans ohne never nie didn’t didnt');
const showWords = wordSet('show shows showed');
const maxBack = 3;
const stateNames = wordSet('status state result outcome ergebnis resultat statut état etat estado resultado stato esito zustand');

/** What the question counts, as a value of each row; null if no column has it. `at` is the place of its word. */
/** @param isShare a share is asked for; "how many pieces were sold" adds up pieces */
export function outcomeIn(
  words: readonly Word[],
  columns: readonly Column[],
  isShare: boolean,
): { value: RowValue; at: number; column: Column } | null {
  for (const [at, word] of words.entries()) {
    const concept = conceptAt(words, at);
    if (!isShare && concept !== null && verbs.has(concept.name)) continue;
    const isNegated = words.slice(Math.max(0, at - maxBack), at).some(({ lower }) => negations.has(lower)) && concept?.name !== 'no-show';
    const found = (concept === null ? null : ofConcept(concept, columns)) ?? ofColumn(word.lower, columns) ?? ofValue(word.lower, columns);
    if (found === null) continue;
    if (!isNegated) return { ...found, at };
    if (found.column.kind !== 'yes_no') continue;
    const is = found.is[0] === 'yes' ? ['no'] : ['yes'];
    return { value: { kind: 'outcome', of: found.column.name, is }, column: found.column, at };
  }
  return null;
}

/** The values of a column that mean the same as the word. */
export function valuesMeant(word: string, column: Column): string[] {
  const concept = conceptOf(word);
  return column.values.filter((value) => value.toLowerCase() === word || (concept !== null && conceptOf(value.toLowerCase()) === concept));
}

function conceptAt(words: readonly Word[], at: number): Concept | null {
  const { lower } = words[at]!;
  const before = words[at - 1]?.lower ?? '';
  // "No show", "did not show up", "nicht erschienen".
  if (showWords.has(lower))
    return before === 'no' || before === 'not' || before === "didn't" ? byName('no-show') : lower === 'show' ? null : byName('shown');
  const concept = conceptOf(lower);
  return concept;
}

function conceptOf(word: string): Concept | null {
  const plain = withoutAccents(word).replaceAll(' ', '').replaceAll('_', '-');
  if (plain.length > 40) return null;
  // The longest stem decides: "no-show" is no "no".
  const found = concepts.flatMap((concept) =>
    concept.stems.filter((stem) => plain.startsWith(stem)).map((stem) => ({ concept, length: stem.length })),
  );
  return found.toSorted((a, b) => b.length - a.length)[0]?.concept ?? null;
}

function byName(name: string): Concept {
  return concepts.find((concept) => concept.name === name)!;
}

type Found = { value: RowValue; column: Column; is: string[] };

function ofConcept(concept: Concept, columns: readonly Column[]): Found | null {
  for (const column of columns) {
    if (column.kind !== 'text') continue;
    const is = column.values.filter((value) => value.length <= 40 && conceptOf(value.toLowerCase()) === concept);
    if (is.length > 0 && is.length < column.values.length) return { value: { kind: 'outcome', of: column.name, is }, column, is };
  }
  for (const column of columns) {
    if (column.kind !== 'yes_no') continue;
    const own = conceptOf(column.name.toLowerCase()) ?? column.tokens.map(conceptOf).find((each) => each !== null) ?? null;
    const is = own === concept ? ['yes'] : own !== null && own.name === concept.opposite ? ['no'] : null;
    if (is !== null) return { value: { kind: 'outcome', of: column.name, is }, column, is };
  }
  return null;
}

/** A column of yes and no by its own name: "vaccinated", "insured". */
function ofColumn(word: string, columns: readonly Column[]): Found | null {
  const column = word.length < 4 ? undefined : columns.find((each) => each.kind === 'yes_no' && likeness(word, each) > 0);
  return column === undefined ? null : { value: { kind: 'outcome', of: column.name, is: ['yes'] }, column, is: ['yes'] };
}

/** A value of a column of states: "escalated". */
function ofValue(word: string, columns: readonly Column[]): Found | null {
  if (word.length < 4) return null;
  for (const column of columns) {
    if (column.kind !== 'text' || !column.tokens.some((token) => stateNames.has(token))) continue;
    const is = column.values.filter((value) => value.toLowerCase() === word);
    if (is.length > 0) return { value: { kind: 'outcome', of: column.name, is }, column, is };
  }
  return null;
}
