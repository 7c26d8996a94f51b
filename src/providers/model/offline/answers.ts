/** Figures requested by name: from the profile if it has them, otherwise computed in the sandbox. */

import { nameTokens } from '../../table/column-role.ts';
import type { JoinProfile } from '../../table/join.ts';
import type { ColumnProfile, Figures, NumberProfile, TableProfile } from '../../table/table-profile.ts';
import { columnFor, onlyColumnFor } from './column-synonyms.ts';
import { type Call, type Conversation, findCall } from './conversation.ts';
import {
  addsUp,
  countedRows,
  exact,
  groupedRows,
  leftOutText,
  listed,
  mainMeasure,
  markdownTable,
  measures,
  round,
  safe,
} from './figure.ts';
import { groupedFigureCode } from './grouped-figure-code.ts';
import { isCurrencyWord } from './money.ts';
import type { Answer } from './report.ts';
import type { FigureKind, FigureRequest, Requests } from './requests.ts';
import { sandboxValue } from './sandbox-value.ts';

/** The calls still needed, or all answers; `remarks` name the questions without an answer. */
export function answerRequests(
  conversation: Conversation,
  requests: Requests,
  tables: TableProfile[],
  joins: readonly JoinProfile[] = [],
): { calls: Call[] } | { answers: Answer[]; remarks: string[] } {
  const answers: Answer[] = [];
  const remarks: string[] = [];
  for (const request of requests.figures) {
    // The findings on the joined files have the converted amounts.
    if (isCurrencyWord(request.column ?? '') && joins.some(({ remarks: said }) => said.some(({ kind }) => kind === 'join_converted')))
      continue;
    const joined = joinedAnswer(request, joins);
    if (joined !== null) {
      answers.push(joined);
      continue;
    }
    const byKey = byKeyAnswer(request, joins, tables);
    if (byKey !== null) {
      answers.push(byKey);
      continue;
    }
    if (isOfConverted(request, joins, tables)) continue;
    const outcomes = tables.map((table) => answerFigure(conversation, request, table));
    const calls = outcomes.flatMap((outcome) => ('call' in outcome ? [outcome.call] : []));
    if (calls.length > 0) return { calls };
    const found = outcomes.flatMap((outcome) => ('answer' in outcome ? [outcome.answer] : []));
    answers.push(...found);
    if (found.length === 0) remarks.push(...unanswered(outcomes));
  }
  for (const focus of requests.focus) {
    const found = tables.flatMap((table) => focused(focus, table));
    answers.push(...found);
    if (found.length === 0 && tables.length > 0) remarks.push(`There is no group "${focus.value}" to focus on.`);
  }
  return { answers, remarks };
}

/** A figure by a group that exists only in joined files; a file with a column of that name may have other figures. */
function joinedAnswer({ kind, column, by }: FigureRequest, joins: readonly JoinProfile[]): Answer | null {
  if (kind !== 'sum' || column !== null || by === null) return null;
  const wanted = singular(by);
  const said = joins.flatMap(({ remarks }) => remarks.filter((remark) => remark.kind === 'join_groups').map(({ text }) => safe(text)));
  const lines = said.filter((text) => singular(/ × [^ ]{1,80} by ([^(]{1,80}) \(from /.exec(text)?.[1] ?? '') === wanted);
  return lines.length === 0 ? null : { question: `By ${by}`, short: lines[0]!.replace(/\.$/, ''), lines: lines.slice(0, 2) };
}

/** A figure by a key that a file writes in several ways; grouped by the file alone, one key would be two. */
function byKeyAnswer({ by }: FigureRequest, joins: readonly JoinProfile[], tables: readonly TableProfile[]): Answer | null {
  if (by === null) return null;
  const names = new Set(tables.flatMap((table) => (findColumn(table, by) ?? groupCalled(table, by))?.name ?? []));
  const said = joins.flatMap(({ remarks }) => remarks.filter(({ kind }) => kind === 'join_by_key').map(({ text }) => text));
  const lines = said.filter((text) => [...names].some((name) => text.includes(` by ${name} of `))).map(safe);
  return lines.length === 0 ? null : { question: `By ${by}`, short: lines[0]!.replace(/\.$/, ''), lines: lines.map((text) => `- ${text}`) };
}

/** Sums of sales by a group are sums of the converted amounts, which are among the findings on the joined files. */
function isOfConverted({ kind, column, by }: FigureRequest, joins: readonly JoinProfile[], tables: readonly TableProfile[]): boolean {
  if (kind !== 'sum' || column !== null || by === null) return false;
  return joins.some(({ remarks }) =>
    remarks.some(({ kind: said, text }) => {
      const group = said === 'join_converted' ? / in [A-Z]{3} by ([^:]{1,80}):/.exec(text)?.[1] : undefined;
      return group !== undefined && tables.some((table) => (findColumn(table, by) ?? groupCalled(table, by))?.name === group);
    }),
  );
}

/** Why no table has an answer; empty if the report already covers the question. */
function unanswered(outcomes: readonly Outcome[]): string[] {
  const problems = outcomes.flatMap((outcome) => ('problem' in outcome ? [outcome.problem] : []));
  return problems.some((problem) => problem === '') ? [] : problems.slice(0, 1);
}

/** A column by its usual name: any case, singular or plural, spaces for underscores. */
export function findColumn(table: TableProfile, word: string): ColumnProfile | undefined {
  const plain = (name: string) =>
    name
      .toLowerCase()
      .replace(/[_\s-]+/g, ' ')
      .trim();
  const wanted = plain(word);
  const stem = wanted.replace(/(?:ies|es|s)$/, '');
  return (
    table.columns.find(({ name }) => plain(name) === wanted) ??
    table.columns.find(({ name }) => plain(name).replace(/(?:ies|y|es|s)$/, '') === stem.replace(/y$/, ''))
  );
}

/** A column by a synonym: "rating" for stars; "expense" for the amount of expenses.csv. */
function columnCalled(table: TableProfile, word: string): ColumnProfile | undefined {
  const lower = word.toLowerCase();
  const named = lower.length > 3 && table.name.toLowerCase().includes(singular(lower));
  return columnFor(lower, measures(table)) ?? (named ? mainMeasure(table) : undefined);
}

/** A column that groups, by a synonym: "site" for Standort. */
function groupCalled(table: TableProfile, word: string): ColumnProfile | undefined {
  const grouping = table.columns.filter(({ name }) => table.groups.some(({ by }) => by === name));
  return onlyColumnFor(word.toLowerCase(), grouping);
}

type Outcome = { answer: Answer } | { call: Call } | { problem: string };

function answerFigure(conversation: Conversation, request: FigureRequest, table: TableProfile): Outcome {
  const column = request.column === null ? mainMeasure(table) : (findColumn(table, request.column) ?? columnCalled(table, request.column));
  if (request.kind === 'count' && column?.numbers === undefined && request.column !== null && request.by === null) {
    const counted = countOfThings(table, request.column, column);
    if (counted !== null) return counted;
  }
  if (request.kind === 'count' && (column === undefined || request.by === null) && /row|record|entr/i.test(request.wording))
    return rowCount(table);
  if (
    column?.numbers === undefined &&
    request.column !== null &&
    spanWords.has(request.column.toLowerCase()) &&
    table.remarks.some(({ kind }) => kind === 'durations' || kind === 'worked' || kind === 'span')
  )
    return { problem: '' };
  // The ranks answer "the largest positions", the means of all columns "the average per subject".
  if (request.column === null && column?.role === 'unclear') return { problem: '' };
  if (column?.numbers === undefined && request.column !== null) {
    const word = request.column.toLowerCase();
    if (noColumns.has(word) || ((request.kind === 'max' || request.kind === 'min') && table.remarks.some(({ kind }) => kind === 'rank')))
      return { problem: '' };
  }
  // "How many dry days" counts rows with a property and names no column.
  if (column?.numbers === undefined && request.kind === 'count') return { problem: '' };
  // Figures by currency are among the findings.
  const mixed = table.columns.filter(({ by_unit: units }) => units !== undefined);
  if (column?.numbers === undefined && mixed.length > 0) return { problem: mixedProblem(request.column, mixed, table) };
  if (column?.numbers === undefined)
    return {
      problem: `${table.name} has no ${table.rows === 0 ? 'rows' : `numeric column "${request.column ?? ''}"`} (asked: ${request.wording}).`,
    };
  // "How many minutes" asks for their sum, not for the number of rows.
  const kind = request.kind === 'count' && addsUp(column) && /how many|wie viele/i.test(request.wording) ? 'sum' : request.kind;
  if (request.by === null) return overall(`${titles[kind]} of ${column.name} (${table.name})`, figureOfAll(kind, column.numbers, table));
  const by = findColumn(table, request.by) ?? groupCalled(table, request.by);
  if (by === undefined)
    return { problem: isCovered(table, request.by) ? '' : `${table.name} has no column "${request.by}" (asked: ${request.wording}).` };
  // "Rent per m²" divides one column by another; the remarks contain it.
  if (by.numbers !== undefined && table.remarks.some(({ kind: findingKind }) => findingKind === 'ratio')) return { problem: '' };
  const title = `${titles[kind]} of ${column.name} by ${by.name} (${table.name})`;
  const left = table.basis === undefined ? '' : `, without ${leftOutText(table.basis.left_out)}`;
  const own = fromGroups(table, kind, column.name, by.name) ?? fromTrend(table, kind, column.name, by.name);
  if (own !== null) return { answer: grouped(`${title}${left}`, by.name, kind, own) };
  return computed(conversation, kind, column.name, by.name, table, left === '' ? title : `${title}, in every row`);
}

/** Why there is no total in one currency; empty if the word means the mixed column itself. */
function mixedProblem(word: string | null, mixed: readonly ColumnProfile[], table: TableProfile): string {
  if (word === null || !isCurrencyWord(word)) return '';
  const each = mixed.map(({ name, by_unit: units }) => `${name} is in ${listed((units ?? []).map(({ unit }) => unit || 'no currency'))}`);
  return `There is no total in ${word}: ${listed(each)} (${table.name}), and amounts in different currencies are added only at exchange rates; no file gives one for each currency, with a name such as rate_to_eur.`;
}

/** "how many purchases": rows with that value, different values of a column with that name, or the rows of a table with that name. */
function countOfThings(table: TableProfile, word: string, column: ColumnProfile | undefined): Outcome | null {
  const wanted = singular(word);
  for (const each of table.groups) {
    const { by, values } = each;
    const group = values.find(({ value }) => singular(value) === wanted);
    if (group !== undefined)
      return overall(`Rows with ${by} "${group.value}" (${table.name})`, `${exact(group.rows)} of ${exact(groupedRows(table, each))}`);
  }
  if (column !== undefined && !column.distinct_estimated)
    return overall(
      `Different values of ${column.name} (${table.name})`,
      `${exact(column.distinct)} in ${exact(table.rows)} rows${column.missing === 0 ? '' : `, ${exact(table.rows - column.missing)} of which have one`}`,
    );
  if (table.name.toLowerCase().includes(wanted) && wanted.length > 2) return rowCount(table);
  return null;
}

function rowCount({ name, rows, basis }: TableProfile): Outcome {
  const counted = basis === undefined || basis.rows === rows ? '' : `; ${exact(basis.rows)} without ${leftOutText(basis.left_out)}`;
  return overall(`Rows of ${name}`, `${exact(rows)}${counted}`);
}

/** The figure of the rows that count, and of every row where it differs. */
function figureOfAll(kind: FigureKind, numbers: NumberProfile, { basis }: TableProfile): string {
  const own = figureText(kind, numbers[kind]);
  if (basis === undefined) return own;
  const whole = kind === 'min' || kind === 'max' ? undefined : numbers.all?.[kind];
  const withAll = whole === undefined || whole === numbers[kind] ? '' : `; ${figureText(kind, whole)} with them`;
  return `${own} without ${leftOutText(basis.left_out)}${withAll}`;
}

function singular(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replace(/(?:ies|y)$/, '')
    .replace(/(?:es|s|en|e)$/, '');
}

/** Words after "average" or "total" that do not name a column. */
const noColumns = new Set(
  'both all beide beiden je pro per by each score scores mark marks grade grades note noten value values wert werte figure figures number numbers zahl zahlen result results ergebnis ergebnisse column columns of and the'.split(
    ' ',
  ),
);
const timeWords = new Set(
  'month months day days week weekday year quarter hour date time monat monaten tag tagen woche jahr quartal stunde'.split(' '),
);
const spanWords = new Set('hours hour time duration stunden zeit dauer minutes days'.split(' '));
const whoWords = new Set(
  'person people employee employees colleague member customer client product article item store shop supplier vendor department team project category type kind sort typ art class group model name mitarbeiter mitarbeiterin kunde produkt artikel filiale abteilung lieferant projekt kategorie one'.split(
    ' ',
  ),
);

/** Whether the report covers it although no column has exactly this name. */
function isCovered(table: TableProfile, word: string): boolean {
  const lower = word.toLowerCase();
  if (timeWords.has(lower))
    return table.trend !== null || table.remarks.some(({ kind }) => kind === 'period_columns' || kind === 'weekday');
  // "per kilometre": a synonym for a numeric column that is the divisor.
  if (columnFor(lower, measures(table)) !== undefined) return true;
  if (whoWords.has(lower)) return table.columns.some(({ type, role }) => type === 'text' || role === 'identifier');
  return table.columns.some(({ name }) => nameTokens(name).some((token) => singular(token) === singular(lower)));
}

function overall(question: string, value: string): Outcome {
  return { answer: { question, short: value, lines: [value] } };
}

function fromGroups(table: TableProfile, kind: FigureKind, column: string, by: string): [string, number][] | null {
  const group = table.groups.find((each) => each.by === by);
  if (group === undefined || group.shortened === true) return null;
  return (
    pick(
      group.values.map(({ value, figures }) => [value, figures[column]]),
      kind,
    )?.toSorted((a, b) => b[1] - a[1]) ?? null
  );
}

function fromTrend(table: TableProfile, kind: FigureKind, column: string, by: string): [string, number][] | null {
  if (table.trend?.date_column !== by) return null;
  return pick(
    table.trend.points.map(({ period, figures }) => [period, figures[column]]),
    kind,
  );
}

function pick(rows: [string, Figures | undefined][], kind: FigureKind): [string, number][] | null {
  if (kind === 'min' || kind === 'max') return null;
  const values = rows.flatMap(([key, figures]): [string, number | undefined][] => (figures === undefined ? [] : [[key, figures[kind]]]));
  return values.every((row): row is [string, number] => row[1] !== undefined) ? values : null;
}

function computed(conversation: Conversation, kind: FigureKind, column: string, by: string, table: TableProfile, title: string): Outcome {
  if (table.format !== 'csv' || !table.has_header)
    return { problem: `${title}: the offline model computes this for CSV files with a header only.` };
  if (!conversation.offered.has('code_exec')) return { problem: `${title} was not computed: I was not offered the tool code_exec.` };
  const args = { code: groupedFigureCode({ path: table.name, delimiter: table.delimiter ?? ',', column, by, kind }) };
  const past = findCall(conversation, 'code_exec', args);
  if (past === undefined) return { call: { name: 'code_exec', args } };
  const value = sandboxValue(past);
  if (!Array.isArray(value)) return { problem: `${title} could not be computed: ${past.resultText.slice(0, 300)}` };
  return { answer: grouped(title, by, kind, value as [string, number][]) };
}

function focused({ column, value }: Requests['focus'][number], table: TableProfile): Answer[] {
  const wanted = value.toLowerCase();
  return table.groups
    .filter(({ by }) => column === null || findColumn(table, column)?.name === by)
    .flatMap(({ by, values }) => values.filter((group) => group.value.toLowerCase() === wanted).map((group) => ({ by, group })))
    .map(({ by, group }) => ({
      question: `Focus: ${by} ${group.value} (${table.name})`,
      short: `${exact(group.rows)} of ${exact(countedRows(table))} rows; figures in the report`,
      lines: [
        `${exact(group.rows)} of ${exact(countedRows(table))} rows.\n`,
        markdownTable(
          ['Column', 'Sum', 'Mean', 'Median'],
          Object.entries(group.figures).map(([name, { sum, mean, median }]) => [
            safe(name),
            exact(sum),
            round(mean),
            median === undefined ? '' : round(median),
          ]),
        ),
      ],
    }));
}

const titles: Record<FigureKind, string> = { sum: 'Sum', mean: 'Mean', median: 'Median', count: 'Count', min: 'Smallest', max: 'Largest' };

function figureText(kind: FigureKind, value: number): string {
  return kind === 'mean' || kind === 'median' ? round(value) : exact(value);
}

function grouped(question: string, by: string, kind: FigureKind, rows: [string, number][]): Answer {
  const shown = rows.slice(0, 50).map(([key, value]) => [String(key), figureText(kind, Number(value))] as const);
  const table = markdownTable(
    [safe(by), titles[kind]],
    shown.map(([key, value]) => [safe(key), value]),
  );
  return {
    question,
    short: shown
      .slice(0, 12)
      .map(([key, value]) => `${key} ${value}`)
      .join('; '),
    lines: [table],
  };
}
