/** "rent per m²", "Kosten je Kilometer": which column of a table is divided by which other one. */
import { nameTokens } from '../../table/column-role.ts';
import type { Ratio } from '../../table/findings/ratio.ts';
import { monthNumber } from '../../table/month-names.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { wordSet } from '../../table/word-set.ts';
import { columnFor } from './column-synonyms.ts';
import { addsUp, mainMeasure, measures } from './figure.ts';
import { readTokens, type Token } from './prompt-tokens.ts';

const joints = wordSet('per pro je /');
const skipped = wordSet('the a an each every one der die das den jeden jede jedem einzelnen average mean total');
const moneyWords = wordSet('price prices cost costs preis kosten revenue income money euro euros pay much');
const maxTokensApart = 6;
const phraseTokens = 6;
/** A task that divides more often is no question. */
const maxDivisions = 8;
const capacityWords = wordSet('tank capacity kapazität capacidad capacité capacità max maximum limit seats plätze volume fassungsvermögen');
const dividing = ['divided by', 'geteilt durch', 'dividiert durch', 'dividido por', 'dividido entre', 'divisé par', 'diviso per', '÷'].map(
  (words) => words.split(' '),
);
const clauseWords = wordSet('and und y et e how what which where');
/** "per 100 km". */
const timesPattern = /(?<!\p{L})(?:per|pro|je|por|par|cada) (10{1,3}|1[., ]000) ?\p{L}/iu;

/** "returned pieces divided by delivered pieces"; null if the words before or after mean no column or several. */
function divisionIn(task: string, columns: readonly ColumnProfile[]): Ratio | null {
  const tokens = readTokens(task.slice(0, 8000));
  let divisions = 0;
  for (const i of tokens.keys()) {
    const length = dividing.find((words) => words.every((word, j) => tokens[i + j]?.lower === word))?.length;
    if (length === undefined) continue;
    if (++divisions > maxDivisions) return null;
    const of = columnMeant(phrase(tokens.slice(Math.max(0, i - phraseTokens), i).toReversed()), columns);
    const per = columnMeant(phrase(tokens.slice(i + length, i + length + phraseTokens)), columns);
    if (of === null || per === null || of === per) continue;
    return { of: of.name, per: per.name, ...timesIn(task) };
  }
  return null;
}

function timesIn(task: string): { times?: number } {
  const times = timesPattern.exec(task.slice(0, 8000))?.[1]?.replace(/[., ]/g, '');
  return times === undefined ? {} : { times: Number(times) };
}

/** What a tank or a hall holds is not what was used or sold. */
function isCapacity({ name }: ColumnProfile): boolean {
  return nameTokens(name).some((token) => capacityWords.has(token));
}

/** The words up to the end of the clause. */
function phrase(tokens: readonly Token[]): string[] {
  const end = tokens.findIndex(
    ({ kind, lower }) => kind === 'break' || (kind === 'mark' && '().,;:?!'.includes(lower)) || clauseWords.has(lower),
  );
  return (end < 0 ? tokens : tokens.slice(0, end)).map(({ lower }) => lower).filter((word) => word.length > 2 && monthNumber(word) === 0);
}

/** 2 for the column's own name, 1 for a synonym of it. */
function likeness(word: string, column: ColumnProfile): number {
  const own = nameTokens(column.name).some((token) => token === word || `${token}s` === word || token === `${word}s`);
  return own ? 2 : columnFor(word, [column]) === undefined ? 0 : 1;
}

/** The one column that most of the words mean. */
function columnMeant(words: readonly string[], columns: readonly ColumnProfile[]): ColumnProfile | null {
  const scored = columns
    .map((column) => ({ column, score: words.reduce((sum, word) => sum + likeness(word, column), 0) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  const [first, second] = scored;
  return first === undefined || first.score === second?.score ? null : first.column;
}

/** The first pair of columns in the task, of one table or of two; null if it names none or the columns do not exist. */
export function ratioIn(task: string, tables: readonly TableProfile[]): Ratio | null {
  const columns = tables.flatMap((table) => measures(table).filter((column) => column.derived !== true && !isCapacity(column)));
  const asked = divisionIn(task, columns);
  if (asked !== null) return asked;
  const tokens = readTokens(task.slice(0, 8000)).map(({ lower }) => lower);
  for (const [i, token] of tokens.entries()) {
    if (!joints.has(token)) continue;
    let at = i + 1;
    while (at < i + 3 && (skipped.has(tokens[at] ?? '') || /^\d+$/.test(tokens[at] ?? ''))) at++;
    const per = columnFor(tokens[at] ?? '', columns);
    // "sales per region": a column of names groups, and is not a divisor.
    if (per === undefined) continue;
    const of = before(tokens, i, columns, per) ?? moneyColumn(tokens, i, tables, per);
    if (of !== undefined && of !== per) return { of: of.name, per: per.name, ...timesIn(task) };
  }
  return compound(tokens, columns);
}

function before(tokens: readonly string[], at: number, columns: readonly ColumnProfile[], per: ColumnProfile): ColumnProfile | undefined {
  for (let i = at - 1; i >= 0 && i >= at - maxTokensApart; i--) {
    const found = columnFor(
      tokens[i]!,
      columns.filter((column) => column !== per),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** "What does it cost per kilometre" means the one column of money. */
function moneyColumn(
  tokens: readonly string[],
  at: number,
  tables: readonly TableProfile[],
  per: ColumnProfile,
): ColumnProfile | undefined {
  if (!tokens.slice(Math.max(0, at - maxTokensApart), at).some((token) => moneyWords.has(token))) return undefined;
  const table = tables.find(({ columns }) => columns.includes(per));
  const main = table === undefined ? undefined : mainMeasure(table);
  return main !== undefined && main !== per && main.derived !== true && addsUp(main) ? main : undefined;
}

/** "Quadratmeterpreis", "Stundenlohn". */
function compound(tokens: readonly string[], columns: readonly ColumnProfile[]): { of: string; per: string } | null {
  for (const token of tokens) {
    if (!/^(?:quadratmeter|kilometer|stück|hektar)(?:preis|miete|kosten|ertrag)/.test(token)) continue;
    const [first, second] = token.startsWith('quadratmeter')
      ? ['quadratmeter', token.slice(12)]
      : token.startsWith('kilometer')
        ? ['kilometer', token.slice(9)]
        : token.startsWith('hektar')
          ? ['hektar', token.slice(6)]
          : ['stück', token.slice(5)];
    const [per, of] = [columnFor(first!, columns), columnFor(second!.replace(/e?[ns]?$/, ''), columns) ?? columnFor('miete', columns)];
    if (per !== undefined && of !== undefined && per !== of) return { of: of.name, per: per.name };
  }
  return null;
}
