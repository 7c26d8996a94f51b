/** The first reading of a table: the type of each column. The second reading needs it to convert cells to figures without guessing. */
import type { Cell } from './cell.ts';
import { ColumnEvidence, type ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import type { NumberStyle } from './number-format.ts';
import { rolesOfSeries } from './period-columns.ts';
import { isQuantity } from './plan-figures.ts';
import type { TableSource } from './table-source.ts';

export type Survey = {
  rows: number;
  columnCount: number;
  ragged: { count: number; first: { row: number; cells: number }[] };
  columns: ColumnPlan[];
  warnings: string[];
};

/** Further columns are counted and named, not profiled. */
export const maxProfiledColumns = 200;
const distinctBudget = 200_000;
const maxDistinctPerColumn = 20_000;
const minDistinctPerColumn = 500;
const raggedShown = 5;

/** Reads the table once. Rejects as `TableSource.eachRow` does. */
export async function surveyTable(source: TableSource, signal?: AbortSignal): Promise<Survey> {
  const surveying = new Surveying(source);
  await source.eachRow((cells, row) => surveying.add(cells, row), signal);
  return surveying.result();
}

/** Reads rows one after the other; from a file or from memory. */
export class Surveying {
  private readonly source: Pick<TableSource, 'names' | 'format' | 'delimiter'>;
  private readonly columns: ColumnEvidence[] = [];
  private readonly ragged: Survey['ragged'] = { count: 0, first: [] };
  private rows = 0;

  constructor(source: Pick<TableSource, 'names' | 'format' | 'delimiter'>) {
    this.source = source;
  }

  add(cells: readonly Cell[], row: number): void {
    this.rows++;
    const known = this.source.names.length;
    if (this.source.format === 'csv' && cells.length !== known) {
      this.ragged.count++;
      if (this.ragged.first.length < raggedShown) this.ragged.first.push({ row, cells: cells.length });
    }
    const width = Math.min(cells.length, known, maxProfiledColumns);
    while (this.columns.length < width) this.columns.push(new ColumnEvidence(distinctLimit(known)));
    for (let i = 0; i < width; i++) this.columns[i]!.add(cells[i] ?? null);
  }

  result(): Survey {
    const { names, delimiter } = this.source;
    const columns = this.columns;
    while (columns.length < Math.min(names.length, maxProfiledColumns)) columns.push(new ColumnEvidence(1));
    const fileStyle = majorityStyle(columns, delimiter);
    const warnings: string[] = [];
    const plans = rolesOfSeries(asAmounts(columns.map((column, index) => column.decide(names[index]!, index, fileStyle, warnings))));
    if (names.length > maxProfiledColumns)
      warnings.push(`The table has ${names.length} columns; only the first ${maxProfiledColumns} are profiled.`);
    return { rows: this.rows, columnCount: names.length, ragged: this.ragged, columns: plans, warnings };
  }
}

function distinctLimit(columns: number): number {
  return Math.max(minDistinctPerColumn, Math.min(maxDistinctPerColumn, Math.floor(distinctBudget / Math.max(columns, 1))));
}

/** Columns that only one style can read decide for columns that both can read. */
function majorityStyle(columns: ColumnEvidence[], delimiter: string | null): NumberStyle {
  let dot = 0;
  let comma = 0;
  for (const { leaning } of columns) {
    if (leaning === 'dot') dot++;
    if (leaning === 'comma') comma++;
  }
  // "2,387" alone is ambiguous; dates like 31.12.2024 occur where the comma is the decimal mark.
  if (dot === 0 && comma === 0 && columns.some(({ dottedDates }) => dottedDates)) return 'comma';
  // If semicolons separate the cells, a dot before three digits separates thousands.
  if (dot === 0 && comma === 0 && delimiter === ';' && columns.some(({ dottedGroups }) => dottedGroups)) return 'comma';
  if (dot === comma) return delimiter === ';' && comma > 0 ? 'comma' : 'dot';
  return comma > dot ? 'comma' : 'dot';
}

const headWords = new Set('booked gebucht participants attendees teilnehmer registrations'.split(' '));
const feeWords = new Set('fee gebühr kursgebühr eintritt'.split(' '));
const wholePrices = new Set('price preis fare'.split(' '));
const unitPrice = new Set('unit per pro je each list sqm m2'.split(' '));
const events = new Set(
  'booking bookings order orders invoice ticket sale sales transaction reservation rental trip ride appointment receipt visit buchung bestellung rechnung auftrag reservierung fahrt termin verkauf'.split(
    ' ',
  ),
);

/** The price in a table of bookings or sales is the whole amount of each, if there is no quantity to multiply it by. */
function asAmounts(plans: ColumnPlan[]): ColumnPlan[] {
  const numbers = plans.filter(({ reads }) => reads === 'number');
  // The fee of a course with many bookings is the price of one.
  const heads = numbers.filter(({ name, role }) => role === 'measure' && has(nameTokens(name), headWords));
  const fees = numbers.filter(({ name, role }) => role === 'measure' && has(nameTokens(name), feeWords));
  if (heads.length === 1 && fees.length === 1) return plans.map((plan) => (plan === fees[0] ? { ...plan, role: 'rate' } : plan));
  const prices = numbers.filter(
    ({ name, role }) => role === 'rate' && has(nameTokens(name), wholePrices) && !has(nameTokens(name), unitPrice),
  );
  const dated = plans.some(({ reads }) => reads === 'date');
  const numbered = plans.some(
    ({ name, values, filled, index, reads }) =>
      reads === 'text' && (index === 0 || values.distinct >= filled * 0.9) && has(nameTokens(name), events),
  );
  if (prices.length !== 1 || !dated || !numbered || numbers.some(({ name }) => isQuantity(name))) return plans;
  return plans.map((plan) => (plan === prices[0] ? { ...plan, role: 'measure' } : plan));
}
