/** Figures in a report's form, and the columns of a profile that are worth reporting. */
export { countOf, exact, leftOutText, listed, percent, round } from '../../table/figure-text.ts';

import { asValue } from '../../table/figure-text.ts';
import type { ColumnProfile, Figures, GroupProfile, TableProfile } from '../../table/table-profile.ts';

const moneyName =
  /amount|revenue|sales|turnover|total|umsatz|betrag|profit|cost|kosten|spend|spent|brutto|gross|netto|volume|donation|spende|freight|income|einnahme|honorar|price|preis|prix|precio|prezzo|prijs|(?:^|[ _(])(?:eur|usd|gbp|chf)(?:$|[ _)])|€|\$|£/i;

/** Columns of quantities; identifiers, codes and years have no figures. */
export function measures(profile: TableProfile): ColumnProfile[] {
  return profile.columns.filter(({ numbers }) => numbers !== undefined);
}

/** Whether a sum of the column has a meaning; for prices, rates, balances and ages only the mean has one. */
export function addsUp({ role }: ColumnProfile): boolean {
  return role === 'measure';
}

/** Measures whose sum has a meaning: no prices, rates and percentages, unless there are no others. */
export function additiveMeasures(profile: TableProfile): ColumnProfile[] {
  const found = measures(profile);
  const additive = found.filter(addsUp);
  return additive.length > 0 ? additive : found;
}

/** The number of rows that the figures rest on. */
export function countedRows({ basis, rows }: TableProfile): number {
  return basis?.rows ?? rows;
}

/** The number of rows that the figures of a group rest on: with those that do not count if the group is by their status. */
export function groupedRows(profile: TableProfile, { is_status: isStatus, values }: GroupProfile): number {
  return isStatus ? values.reduce((sum, { rows }) => sum + rows, 0) : countedRows(profile);
}

/** The column most likely meant by "the figures": the only one that the task names, else money, then the one with the largest sum; no count of entries whose value is computed. */
export function mainMeasure(profile: TableProfile): ColumnProfile | undefined {
  const isValued = profile.nested.some(({ columns }) => columns.some((column) => column.derived === true));
  const found = additiveMeasures(profile)
    .filter(({ numbers }) => numbers!.min !== numbers!.max || numbers!.count === 1)
    .filter(({ name }) => !isValued || !name.startsWith('number of '));
  const asked = found.filter((column) => column.is_asked === true);
  if (asked.length === 1) return asked[0];
  const derived = found.find((column) => column.derived === true);
  const money = found.find(({ name }) => moneyName.test(name));
  return derived ?? money ?? found.toSorted((a, b) => Math.abs(b.numbers!.sum) - Math.abs(a.numbers!.sum))[0];
}

/** The figure that compares groups or periods: the measure's sum, its mean if a sum has no meaning, the number of rows without a measure. */
export function keyFigure(
  { rows, figures }: { rows: number; figures: Record<string, Figures> },
  measure: ColumnProfile | undefined,
): number {
  if (measure === undefined) return rows;
  const own = figures[measure.name];
  return (addsUp(measure) ? own?.sum : own?.mean) ?? 0;
}

/** Text for a table or a sentence of a report: no file content may act as Markdown or HTML. */
export function safe(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\|<>[\]`*]/g, (char) => `\\${char}`)
    .trim();
}

/** A value in a sentence. */
export function safeValue(text: string): string {
  return safe(asValue(text));
}

/** A Markdown table. Cells must already be escaped. */
export function markdownTable(head: string[], rows: string[][]): string {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => ' --- ').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}
