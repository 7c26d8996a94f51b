/** A question for a thing that no column of any table is about: "how much fuel", "which patients". */
import type { TableProfile } from '../../../table/table-profile.ts';
import { wordSet } from '../../../table/word-set.ts';
import { safe } from '../figure.ts';
import { isEnglish } from '../prompt-numbers.ts';
import { absentSubjects } from '../subjects.ts';
import { type Column, columnsOf, isKnown, isSameStem } from './columns-meant.ts';
import { type Word, wordsOf } from './question-tokens.ts';
import { valueKindsIn } from './row-value.ts';
import {
  countWords,
  dateParts,
  fillers,
  largestWords,
  meanWords,
  shareWords,
  smallestWords,
  sumWords,
  weekdayNumbers,
} from './vocabulary.ts';

const choosing = wordSet('which welche welcher welches welchen welchem quel quelle quels quelles cuáles quali');
/** "How much fuel did each vessel use": only a noun stands between "much" and these. */
const auxiliaries = wordSet('did do does was were is are has have had will would can could goes went');
const plurals = wordSet('cuántos cuántas quanti quante');
const different = wordSet(
  'different distinct unique new other various verschiedene unterschiedliche neue différents nouveaux distintos nuevos diversi nuovi',
);
/** Things that every table has, and words that stand where a noun stands. */
const general = wordSet(
  'thing things rows row records record entries entry values value figures figure numbers number columns column lines line files file errors error mistakes problems problem issues issue data points items item cases case times time ' +
    'people persons person kinds kind types type groups group duplicates gaps outliers dates money more less minutes hours days weeks months years percent share part way ways reason reasons answers results result amounts amount total ' +
    'dinge zeilen werte zahlen fehler probleme fälle personen leute arten gruppen mal daten stunden minuten tage wochen monate jahre prozent geld einträge datensätze ' +
    'lignes valeurs chiffres erreurs problèmes cas personnes gens types groupes fois données argent heures jours semaines mois ' +
    'filas valores errores problemas casos personas tipos grupos veces datos dinero righe valori errori problemi casi persone tipi gruppi volte dati soldi ' +
    'look looks looked seem seems need needs stand stands make makes come comes came belong belongs repeat repeats fail failed miss appear appears show shows agree match matches differ',
);
/** A column of names may be of anything. */
const anyNames = wordSet(
  'name names title label item description bezeichnung titel beschreibung nom libellé désignation nombre descripción nome descrizione',
);
const maxShown = 12;
const minChars = 4;

/** The sentence that says so; null where a column, a value or the rows themselves may be meant. */
export function absentAnswer(question: string, task: string, tables: readonly TableProfile[]): string | null {
  // Another sentence of the task may explain which column is about the subject.
  const ofTask = absentSubjects(task, tables);
  const subject = absentSubjects(question, tables).find((text) => ofTask.includes(text));
  if (subject !== undefined) return subject;
  const columns = tables.flatMap(columnsOf);
  const noun = nounOf(wordsOf(question), false);
  if (noun === null || columns.length === 0 || isMeant(noun, columns, tables)) return null;
  const names = columns.slice(0, maxShown).map(({ name }) => safe(name));
  const all = `${names.join(', ')}${columns.length > maxShown ? ' and more' : ''}`;
  // A word of another language than the columns may still be one of them.
  return isEnglish(task)
    ? `Not in the data: the table${tables.length > 1 ? 's have' : ' has'} no column about ${safe(noun)}, only ${all}.`
    : `Not answered: no column is known to be about "${safe(noun)}"; the columns are ${all}.`;
}

/** The thing that "how many" counts, if no column is about it: then each row is counted as one. */
export function countedThing(question: string, tables: readonly TableProfile[], isChosen = false): string | null {
  const noun = nounOf(wordsOf(question), !isChosen);
  return noun === null || isMeant(noun, tables.flatMap(columnsOf), tables) ? null : noun;
}

function isMeant(noun: string, columns: readonly Column[], tables: readonly TableProfile[]): boolean {
  if (isKnown(noun, columns)) return true;
  if (columns.some(({ kind, tokens }) => kind === 'text' && tokens.some((token) => anyNames.has(token)))) return true;
  // The rows of sailings.csv are sailings.
  const files = tables.flatMap(({ name }) => name.toLowerCase().split(/[^\p{L}]+/u));
  if (files.some((word) => word.length >= minChars && isSameStem(word, noun))) return true;
  return (
    [general, dateParts, weekdayNumbers, meanWords, sumWords, shareWords, largestWords, smallestWords, fillers, countWords].some((words) =>
      words.has(noun),
    ) || valueKindsIn([noun]).length > 0
  );
}

/** The thing that "how much" or "which" asks for, or that "how many" counts; null if it is not clear which word it is. */
function nounOf(words: readonly Word[], isCounted: boolean): string | null {
  for (const [i, { lower }] of words.entries()) {
    const next = words[i + 1];
    if (next?.kind !== 'word') continue;
    const found = isCounted ? countedAt(words, i) : choosing.has(lower) ? named(words, i + 1) : amountAt(words, i);
    if (found !== null && found.kind === 'word' && found.lower.length >= minChars) return found.lower;
  }
  return null;
}

/** "How much fuel did". */
function amountAt(words: readonly Word[], i: number): Word | null {
  const next = words[i + 1]!;
  if (words[i]!.lower !== 'much' || words[i - 1]?.lower !== 'how') return null;
  return auxiliaries.has(words[i + 2]?.lower ?? '') && !auxiliaries.has(next.lower) ? next : null;
}

/** "How many customers", "wie viele Kunden", "combien de clients". */
function countedAt(words: readonly Word[], i: number): Word | null {
  const { lower } = words[i]!;
  const next = words[i + 1]!;
  if (lower === 'many' && words[i - 1]?.lower === 'how') return plural(words, i + 1);
  if (lower === 'viele') return named(words, i + 1);
  if (lower === 'combien') return next.lower === 'de' ? (words[i + 2] ?? null) : /^d['’]/.test(next.text) ? next : null;
  return plurals.has(lower) ? next : null;
}

function plural(words: readonly Word[], at: number): Word | null {
  const noun = words[different.has(words[at]!.lower) ? at + 1 : at];
  return noun !== undefined && noun.lower.length >= minChars && noun.lower.endsWith('s') ? noun : null;
}

/** In German a noun begins with a capital; elsewhere the word right after "which" is one if another word follows. */
function named(words: readonly Word[], at: number): Word | null {
  const isCounted = countWords.has(words[at]!.lower) || words[at]!.kind === 'figure';
  const noun = words[isCounted ? at + 1 : at];
  const lead = words[at - 1]!.lower;
  if (noun === undefined || words[at + 1]?.kind !== 'word') return null;
  const german = lead.startsWith('welch') || lead.startsWith('viel');
  return !german || noun.text[0] !== noun.lower[0] ? noun : null;
}
