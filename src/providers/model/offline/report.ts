/** The Markdown report of an analysis: what was read, what stands out, what was asked, and the figures of each file. All figures are the profiles' own. */
import type { TableProfile } from '../../tools/table/table-profile.ts';
import { additiveMeasures, countOf, exact, mainMeasure, markdownTable, percent, round, safe } from './figure.ts';
import { findings } from './findings.ts';
import type { TextSummary } from './summary.ts';

export type TextMaterial = { name: string; summary: TextSummary; totalChars: number; readChars: number };
/** `short` is for the closing words, `lines` are Markdown. */
export type Answer = { question: string; short: string; lines: string[] };

export type Material = {
  tables: TableProfile[];
  texts: TextMaterial[];
  /** Files that could not be read, with the reason. */
  unreadable: { name: string; reason: string }[];
  /** What a web search found. */
  hits: { title: string; url: string; snippet: string }[];
  /** Figures that were asked for by name. */
  answers: Answer[];
  /** Remarks on what could not be followed. */
  remarks: string[];
  chartPath: string | null;
};

export const signature =
  '*Written by the offline model: by fixed rules, without a language model. Figures come from profile_table and code_exec; sentences of texts are copied, not rephrased.*';

const groupRows = 20;
const groupColumns = 3;

export function writeReport(material: Material): string {
  const { tables, texts, unreadable, hits, answers, remarks, chartPath } = material;
  const names = [...tables, ...texts].map(({ name }) => safe(name));
  const parts = [
    `# Report: ${names.length === 0 ? 'search results' : names.slice(0, 4).join(', ')}${names.length > 4 ? ` and ${names.length - 4} more` : ''}`,
    `## What was read\n\n${[...tables.map(describeTable), ...texts.map(describeText), ...unreadable.map(({ name, reason }) => `- ${safe(name)}: not read. ${safe(reason)}`)].join('\n')}`,
  ];
  if (answers.length > 0)
    parts.push(`## What was asked\n\n${answers.map(({ question, lines }) => `**${safe(question)}**\n\n${lines.join('\n')}`).join('\n\n')}`);
  if (tables.length > 0)
    parts.push(
      `## What stands out\n\n${tables.map((table) => (tables.length > 1 ? `### ${safe(table.name)}\n\n` : '') + bullets(findings(table))).join('\n\n')}`,
    );
  if (chartPath !== null) parts.push(`![Chart](${chartPath})`);
  for (const { name, summary } of texts)
    parts.push(`## ${safe(name)} in its own sentences\n\n${bullets(summary.sentences.map(safe))}${keywordLine(summary)}`);
  if (hits.length > 0)
    parts.push(
      `## Found by search\n\n${bullets(hits.map(({ title, url, snippet }) => `${safe(title)} (${safe(url)}): ${safe(snippet)}`))}`,
    );
  for (const table of tables) parts.push(tableSection(table));
  if (remarks.length > 0) parts.push(`## Remarks\n\n${bullets(remarks.map(safe))}`);
  parts.push(`---\n\n${signature}\n`);
  return parts.join('\n\n');
}

/** The report of a single text: its summary and nothing else. */
export function writeSummary({ name, summary, totalChars, readChars }: TextMaterial, remarks: string[]): string {
  const parts = [
    `# Summary of ${safe(name)}`,
    describeText({ name, summary, totalChars, readChars }),
    summary.sentences.length > 0 ? bullets(summary.sentences.map(safe)) : 'The text holds no sentences.',
  ];
  const keywords = keywordLine(summary).trim();
  if (keywords !== '') parts.push(keywords);
  if (remarks.length > 0) parts.push(bullets(remarks.map(safe)));
  return [...parts, `---\n\n${signature}\n`].join('\n\n');
}

function describeTable(table: TableProfile): string {
  const form =
    table.format === 'json'
      ? 'JSON'
      : `text separated by ${{ ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' }[table.delimiter ?? ','] ?? 'commas'}`;
  return `- ${safe(table.name)}: ${countOf(table.rows, 'row')}, ${countOf(table.column_count, 'column')} (${form}, ${table.encoding}).`;
}

function describeText({ name, summary, totalChars, readChars }: TextMaterial): string {
  const part = readChars < totalChars ? `; only the first ${exact(readChars)} of ${exact(totalChars)} characters were read` : '';
  return `- ${safe(name)}: ${countOf(summary.words, 'word')} in ${countOf(summary.sentenceCount, 'sentence')}${part}.`;
}

function tableSection(table: TableProfile): string {
  const parts = [`## Figures of ${safe(table.name)}`, 'Row numbers count the rows below the header.', columnTable(table)];
  const numeric = table.columns.filter(({ numbers }) => numbers !== undefined);
  if (numeric.length > 0) parts.push('### Numbers', numberTable(table));
  const outliers = numeric.filter(({ numbers }) => numbers!.outliers.count > 0);
  if (outliers.length > 0) parts.push('### Outliers', outlierTable(table));
  for (const group of table.groups) parts.push(`### By ${safe(group.by)}`, groupTable(table, group));
  if (table.trend !== null && table.trend.points.length > 1)
    parts.push(`### By ${table.trend.period} (${safe(table.trend.date_column)})`, trendTable(table));
  if (table.trimmed.length > 0) parts.push(`Left out for length: ${table.trimmed.map(safe).join('; ')}.`);
  return parts.join('\n\n');
}

function columnTable(table: TableProfile): string {
  const rows = table.columns.map(({ name, type, missing, distinct, distinct_estimated, frequent, dates, unit }) => [
    safe(name),
    unit === undefined ? type : `${type} (${safe(unit)})`,
    table.rows === 0 ? exact(missing) : `${exact(missing)} (${percent(missing, table.rows)})`,
    `${distinct_estimated ? 'about ' : ''}${exact(distinct)}`,
    dates !== undefined
      ? `${dates.first} to ${dates.last}`
      : (frequent ?? [])
          .slice(0, 3)
          .map(({ value, count }) => `${safe(value.slice(0, 40))} (${exact(count)})`)
          .join(', '),
  ]);
  return markdownTable(['Column', 'Type', 'Missing', 'Distinct', 'Values'], rows);
}

function numberTable(table: TableProfile): string {
  const rows = table.columns.flatMap(({ name, numbers }) => {
    if (numbers === undefined) return [];
    const about = numbers.quantiles_estimated ? 'about ' : '';
    const { sum, mean, median, min, min_row, max, max_row, standard_deviation, q1, q3 } = numbers;
    return [
      [
        safe(name),
        exact(sum),
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

function groupTable(table: TableProfile, { by, values }: TableProfile['groups'][number]): string {
  const columns = figureColumns(table);
  const head = [safe(by), 'Rows', ...columns.flatMap((name) => [`${safe(name)}: sum`, 'mean', 'median'])];
  const rows = values.slice(0, groupRows).map(({ value, rows: count, figures }) => [
    safe(value),
    exact(count),
    ...columns.flatMap((name) => {
      const found = figures[name];
      return found === undefined
        ? ['', '', '']
        : [exact(found.sum), round(found.mean), found.median === undefined ? '' : round(found.median)];
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
    ...columns.map((name) => (figures[name] === undefined ? '' : exact(figures[name].sum))),
  ]);
  return markdownTable(['Period', 'Rows', ...columns.map((name) => `${safe(name)}: sum`)], rows);
}

function figureColumns(table: TableProfile): string[] {
  const named = new Set(table.groups.flatMap(({ values }) => values.flatMap(({ figures }) => Object.keys(figures))));
  for (const { figures } of table.trend?.points ?? []) for (const name of Object.keys(figures)) named.add(name);
  const main = mainMeasure(table);
  const others = additiveMeasures(table).filter((column) => column !== main);
  return [...(main === undefined ? [] : [main]), ...others]
    .map(({ name }) => name)
    .filter((name) => named.has(name))
    .slice(0, groupColumns);
}

function keywordLine({ keywords }: TextSummary): string {
  return keywords.length === 0 ? '' : `\n\nWords that come most often: ${keywords.map(safe).join(', ')}.`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}
