/**
 * The Markdown report of an analysis: the files read, notable findings, answers, and the figures of each file. All figures are from the
 * profiles.
 */

import { isDocument } from '../../office/port.ts';
import { placeInTime } from '../../table/findings/named-periods.ts';
import type { JoinProfile } from '../../table/join.ts';
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { emptyBeside } from './empty-tables.ts';
import { addsUp, countOf, exact, leftOutText, mainMeasure, markdownTable, measures, percent, round, safe } from './figure.ts';
import { findings } from './findings.ts';
import { notSaid, withoutRepeats } from './repeats.ts';
import type { TextSummary } from './summary.ts';
import type { TextFacts } from './text/facts.ts';
import { emptyText, textParts } from './text/report.ts';

export type TextMaterial = { name: string; summary: TextSummary; facts: TextFacts; text: string; totalChars: number; readChars: number };
/** `short` is for the closing words, `lines` are Markdown. `sections` are headings of the report on a text that the answer makes needless. */
export type Answer = { question: string; short: string; lines: string[]; sections?: string[] };

export type Material = {
  tables: TableProfile[];
  /** Pairs of tables with a common key. */
  joins: JoinProfile[];
  texts: TextMaterial[];
  /** Files that could not be read, with the reason. */
  unreadable: { name: string; reason: string }[];
  /** Results of a web search. */
  hits: { title: string; url: string; snippet: string }[];
  /** Figures that were requested by name. */
  answers: Answer[];
  /** Remarks on requests that could not be followed. */
  remarks: string[];
  chartPath: string | null;
};

export const signature =
  '*Written by the offline model: by fixed rules, without a language model. Figures come from profile_table and code_exec; sentences of texts are copied, not rephrased.*';

const groupRows = 20;
const groupColumns = 4;

export function writeReport(material: Material): string {
  const { tables, joins, texts, unreadable, hits, answers, remarks, chartPath } = material;
  const names = [...new Set([...tables, ...texts].map(({ name }) => safe(name)))];
  const parts = [
    `# Report: ${names.length === 0 ? 'search results' : names.slice(0, 4).join(', ')}${names.length > 4 ? ` and ${names.length - 4} more` : ''}`,
    `## What was read\n\n${[...tables.map(describeTable), ...texts.map(describeText), ...unreadable.map(({ name, reason }) => `- ${safe(name)}: not read. ${safe(reason)}`)].join('\n')}`,
  ];
  const told = withoutRepeats(answers);
  parts.push(...answerParts(told.answers));
  const together = joins.map(({ remarks: said }) =>
    notSaid(
      said.map(({ text }) => safe(text)),
      told.said,
    ),
  );
  if (together.some((lines) => lines.length > 0))
    parts.push(
      `## The files together\n\n${together
        .filter((lines) => lines.length > 0)
        .map(bullets)
        .join('\n\n')}`,
    );
  const others = tables
    .map(({ name }, i) => ({ name, lines: notSaid([...findings(tables[i]!), ...emptyBeside(tables[i]!, tables)], told.said, safe(name)) }))
    .filter(({ lines }) => lines.length > 0);
  if (others.length > 0)
    parts.push(
      `## What stands out\n\n${others.map(({ name, lines }) => (tables.length > 1 ? `### ${safe(name)}\n\n` : '') + bullets(lines)).join('\n\n')}`,
    );
  if (chartPath !== null) parts.push(`![Chart](${chartPath})`);
  for (const text of texts) parts.push(textSection(text, texts.length === 1 ? shownBy(answers) : new Set(), answers));
  if (hits.length > 0)
    parts.push(
      `## Found by search\n\n${bullets(hits.map(({ title, url, snippet }) => `${safe(title)} (${safe(url)}): ${safe(snippet)}`))}`,
    );
  for (const table of tables) parts.push(tableSection(table));
  if (remarks.length > 0) parts.push(`## Remarks\n\n${bullets(remarks.map(safe))}`);
  parts.push(`---\n\n${signature}\n`);
  return parts.join('\n\n');
}

/** The report of a single text. */
export function writeSummary(text: TextMaterial, answers: Answer[], remarks: string[]): string {
  const parts = [
    `# Summary of ${safe(text.name)}`,
    describeText(text),
    ...answerParts(answers),
    textSection(text, shownBy(answers), answers),
  ];
  if (remarks.length > 0) parts.push(`## Remarks\n\n${bullets(remarks.map(safe))}`);
  return [...parts, `---\n\n${signature}\n`].join('\n\n');
}

/** The report if nothing could be read: only the reasons. */
export function writeNothing(reasons: string[]): string {
  return ['# Report: nothing was read', bullets(reasons.map(safe)), `---\n\n${signature}\n`].join('\n\n');
}

/** Headings of the report on a text whose facts an answer shows; of several texts each has its own. */
export function shownBy(answers: readonly Answer[]): ReadonlySet<string> {
  return new Set(answers.flatMap(({ sections }) => sections ?? []));
}

function answerParts(answers: Answer[]): string[] {
  if (answers.length === 0) return [];
  return [`## What was asked\n\n${answers.map(({ question, lines }) => `**${safe(question)}**\n\n${lines.join('\n')}`).join('\n\n')}`];
}

/** @param answers their sentences are not quoted again */
function textSection({ name, summary, facts }: TextMaterial, shown: ReadonlySet<string>, answers: readonly Answer[]): string {
  if (facts.kind === 'empty') return `## ${safe(name)}\n\n${safe(emptyText(name))}`;
  const told = answers.flatMap(({ lines }) => lines).join('\n');
  // What a later sentence replaced is not among the main sentences.
  const left = summary.sentences
    .filter((sentence) => !facts.withheld.some(({ text }) => text.includes(sentence) || sentence.includes(text)))
    .filter(
      (sentence) =>
        !facts.superseded.some(({ text, written }) => sentence.includes(text) || (text.includes(sentence) && sentence.includes(written))),
    )
    .map(safe)
    .filter((sentence) => !told.includes(sentence));
  const sentences = summary.sentences.length === 0 ? 'The text holds no sentences.' : bullets(left);
  const own = facts.log === null && sentences !== '' ? [`## ${safe(name)} in its own sentences\n\n${sentences}`] : [];
  return [...own, `## What ${safe(name)} holds`, ...textParts(facts, shown)].join('\n\n');
}

function describeTable(table: TableProfile): string {
  if (table.size_bytes === 0) return `- ${safe(table.name)}: an empty file (0 bytes).`;
  const form =
    table.format !== 'csv'
      ? {
          aligned: 'columns aligned by blanks',
          json: 'JSON',
          log: 'access log',
          markdown: 'table in Markdown',
          docx: 'table in a Word document',
          xlsx: 'sheet of a workbook',
        }[table.format]
      : `text separated by ${{ ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' }[table.delimiter ?? ','] ?? 'commas'}`;
  return `- ${safe(table.name)}: ${rowsRead(table)}, ${countOf(table.column_count, 'column')} (${form}${table.format === 'xlsx' ? '' : `, ${table.encoding}`}).${leftOut(table)}`;
}

/** "12 rows and 5 total rows" */
export function rowsRead({ rows, total_rows: totals }: TableProfile): string {
  return `${countOf(rows, 'row')}${totals === undefined ? '' : ` and ${countOf(totals, 'total row')}`}`;
}

/** Told before the first figure, for every figure rests on it. */
export function leftOut({ basis }: TableProfile): string {
  return basis === undefined ? '' : ` The figures leave out ${safe(leftOutText(basis.left_out))}.`;
}

function describeText({ name, summary, totalChars, readChars }: TextMaterial): string {
  const part = readChars < totalChars ? `; only the first ${exact(readChars)} of ${exact(totalChars)} characters were read` : '';
  const lines = isDocument(name) ? '. Lines are those of its text as Markdown: one for each paragraph, item, row of a table and gap' : '';
  return `- ${safe(name)}: ${countOf(summary.words, 'word')} in ${countOf(summary.sentenceCount, 'sentence')}${part}${lines}.`;
}

function tableSection(table: TableProfile): string {
  const numbers =
    table.format === 'json' ? 'Row numbers count the records in their order.' : 'Row numbers count the rows below the header.';
  const parts = [`## Figures of ${safe(table.name)}`, numbers, columnTable(table)];
  const numeric = table.columns.filter(({ numbers }) => numbers !== undefined);
  if (numeric.length > 0) parts.push('### Numbers', numberTable(table));
  if (table.columns.some(({ by_unit }) => by_unit !== undefined)) parts.push('### Mixed units', unitTable(table));
  const outliers = numeric.filter(({ numbers }) => numbers!.outliers.count > 0);
  if (outliers.length > 0) parts.push('### Outliers', outlierTable(table));
  for (const group of table.groups) parts.push(`### By ${safe(group.by)}`, groupTable(table, group));
  if (table.trend !== null && table.trend.points.length > 1)
    parts.push(`### By ${table.trend.period} (${safe(table.trend.date_column)})`, trendTable(table));
  if (table.trimmed.length > 0) parts.push(`Left out for length: ${table.trimmed.map(safe).join('; ')}.`);
  return parts.join('\n\n');
}

function columnTable(table: TableProfile): string {
  const rows = table.columns.map(({ name, type, role, derived, missing, distinct, distinct_estimated, frequent, dates, unit, range }) => [
    safe(name),
    typeText(type, role, unit, derived),
    table.rows === 0 ? exact(missing) : `${exact(missing)} (${percent(missing, table.rows)})`,
    `${distinct_estimated ? 'about ' : ''}${exact(distinct)}`,
    dates !== undefined
      ? `${dates.first} to ${dates.last}`
      : range !== undefined
        ? `${range.min} to ${range.max}`
        : (frequent ?? [])
            .slice(0, 3)
            .map(({ value, count }) => `${safe(value.slice(0, 40))} (${exact(count)})`)
            .join(', '),
  ]);
  return markdownTable(['Column', 'Type', 'Missing', 'Distinct', 'Values'], rows);
}

function typeText(type: string, role: string, unit: string | undefined, derived: boolean | undefined): string {
  if (derived === true) return 'computed';
  const kind = type === 'mixed' ? 'mixed' : role === 'identifier' || role === 'year' || role === 'code' || role === 'counter' ? role : type;
  return unit === undefined ? kind : `${kind} (${safe(unit)})`;
}

function numberTable(table: TableProfile): string {
  const rows = table.columns.flatMap(({ name, role, numbers }) => {
    if (numbers === undefined) return [];
    const about = numbers.quantiles_estimated ? 'about ' : '';
    const { sum, mean, median, min, min_row, max, max_row, standard_deviation, q1, q3 } = numbers;
    return [
      [
        safe(name),
        // A sum of prices, rates or balances has no meaning.
        role === 'measure' ? exact(sum) : '',
        round(mean),
        about + round(median),
        `${exact(min)} (row ${min_row})`,
        `${exact(max)} (row ${max_row})`,
        round(standard_deviation),
        `${about}${round(q1)} to ${round(q3)}`,
      ],
    ];
  });
  return markdownTable(['Column', 'Sum', 'Mean', 'Median', 'Smallest', 'Largest', 'Standard deviation', 'Middle half'], rows);
}

function outlierTable(table: TableProfile): string {
  const rows = table.columns.flatMap(({ name, numbers }) => {
    if (numbers === undefined || numbers.outliers.count === 0) return [];
    const { rule, low_fence, high_fence, count, most_extreme } = numbers.outliers;
    const about = numbers.quantiles_estimated ? 'about ' : '';
    return [
      [
        safe(name),
        about + exact(count),
        `below ${round(low_fence)} or above ${round(high_fence)} (${rule})`,
        most_extreme.map(({ row, value }) => `${exact(value)} (row ${row})`).join(', '),
      ],
    ];
  });
  return markdownTable(['Column', 'How many', 'Rule', 'Most extreme'], rows);
}

/** Months and weeks in order of time; other groups as they are. */
function inTime<Group extends { value: string }>(values: Group[]): Group[] {
  const places = new Map(values.map(({ value }) => [value, placeInTime(value)]));
  const compare = (a: Group, b: Group) => places.get(a.value)! - places.get(b.value)!;
  return [...places.values()].includes(null) ? values : values.toSorted(compare);
}

function groupTable(table: TableProfile, { by, values }: TableProfile['groups'][number]): string {
  const columns = figureColumns(table);
  const head = [
    safe(by),
    'Rows',
    ...columns.flatMap((column) =>
      addsUp(column) ? [`${safe(column.name)}: sum`, 'mean', 'median'] : [`${safe(column.name)}: mean`, 'median'],
    ),
  ];
  const rows = inTime(values.slice(0, groupRows)).map(({ value, rows: count, figures }) => [
    safe(value),
    exact(count),
    ...columns.flatMap((column) => {
      const found = figures[column.name];
      if (found === undefined) return addsUp(column) ? ['', '', ''] : ['', ''];
      const middle = [round(found.mean), found.median === undefined ? '' : round(found.median)];
      return addsUp(column) ? [exact(found.sum), ...middle] : middle;
    }),
  ]);
  return (
    markdownTable(head, rows) + (values.length > groupRows ? `\n\n${values.length - groupRows} more values are in analysis.json.` : '')
  );
}

function trendTable(table: TableProfile): string {
  const columns = figureColumns(table);
  const points = table.trend!.points.slice(-60);
  const rows = points.map(({ period, rows: count, figures }) => [
    period,
    exact(count),
    ...columns.map((column) => {
      const found = figures[column.name];
      return found === undefined ? '' : addsUp(column) ? exact(found.sum) : round(found.mean);
    }),
  ]);
  return markdownTable(['Period', 'Rows', ...columns.map((column) => `${safe(column.name)}: ${addsUp(column) ? 'sum' : 'mean'}`)], rows);
}

function unitTable(table: TableProfile): string {
  const rows = table.columns.flatMap(({ name, role, by_unit }) =>
    (by_unit ?? []).map(({ unit, count, sum, min, max }) => [
      safe(name),
      unit === '' ? '(none)' : safe(unit),
      exact(count),
      role === 'measure' ? exact(sum) : '',
      exact(min),
      exact(max),
    ]),
  );
  return markdownTable(['Column', 'Unit', 'Rows', 'Sum', 'Smallest', 'Largest'], rows);
}

/** The measures for groups and periods: the main one, then additive ones, then rates. */
function figureColumns(table: TableProfile): ColumnProfile[] {
  const named = new Set(table.groups.flatMap(({ values }) => values.flatMap(({ figures }) => Object.keys(figures))));
  for (const { figures } of table.trend?.points ?? []) for (const name of Object.keys(figures)) named.add(name);
  const main = mainMeasure(table);
  const others = measures(table).filter((column) => column !== main);
  return [...(main === undefined ? [] : [main]), ...others.filter(addsUp), ...others.filter((column) => !addsUp(column))]
    .filter(({ name }) => named.has(name))
    .slice(0, groupColumns);
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}
