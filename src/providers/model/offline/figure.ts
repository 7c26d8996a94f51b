/** Figures as a report writes them, and which columns of a profile they are worth writing about. */
import type { ColumnProfile, Figures, TableProfile } from '../../tools/table/table-profile.ts';

/** Exact figures keep all their decimals, at least two when there are any: 1234.5 is `1,234.50`. */
export function exact(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 12, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 });
}

/** Derived figures are rounded: two decimals, more for small ones. */
export function round(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1;
  if (small) return value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
  return value.toLocaleString('en-US', { maximumFractionDigits: 2, minimumFractionDigits: Number.isInteger(value) ? 0 : 2 });
}

export function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
}

/** Numeric columns that count something: no identifiers, codes or years, whose sums would mean nothing. */
export function measures(profile: TableProfile): ColumnProfile[] {
  return profile.columns.filter(({ name, type, numbers, distinct }) => {
    if (numbers === undefined) return false;
    if (/(?:^|[_\s-])(?:id|ids|no|nr|number|nummer|code|zip|plz|year|jahr|index|phone|lat|lon|lng|latitude|longitude)$/i.test(name))
      return false;
    const counter = type === 'integer' && distinct === profile.rows && profile.rows > 10 && numbers.max - numbers.min === profile.rows - 1;
    return !counter;
  });
}

/** Whether a sum of the column means something; of prices, rates and ages only the mean does. */
export function addsUp({ name, unit }: ColumnProfile): boolean {
  return (
    unit !== '%' &&
    !/price|rate|ratio|percent|average|avg|preis|quote|score|temperatur|(?:^|[_\s])(?:age|alter|height|weight|gewicht|rating)$/i.test(name)
  );
}

/** Measures whose sum means something: no prices, rates and percentages, as long as there are others. */
export function additiveMeasures(profile: TableProfile): ColumnProfile[] {
  const found = measures(profile);
  const additive = found.filter(addsUp);
  return additive.length > 0 ? additive : found;
}

/** The column a reader most likely means by "the figures": money first, then the one with the largest sum. */
export function mainMeasure(profile: TableProfile): ColumnProfile | undefined {
  const found = additiveMeasures(profile);
  const money = found.find(({ name }) => /amount|revenue|sales|turnover|total|umsatz|betrag|profit|cost|spend|volume/i.test(name));
  return money ?? found.toSorted((a, b) => Math.abs(b.numbers!.sum) - Math.abs(a.numbers!.sum))[0];
}

/** What a group or period is compared by: the measure's sum, its mean where a sum means nothing, the rows where there is no measure. */
export function keyFigure(
  { rows, figures }: { rows: number; figures: Record<string, Figures> },
  measure: ColumnProfile | undefined,
): number {
  if (measure === undefined) return rows;
  const own = figures[measure.name];
  return (addsUp(measure) ? own?.sum : own?.mean) ?? 0;
}

/** "1 row", "119 rows". */
export function countOf(count: number, noun: string): string {
  return `${exact(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Text for a table or a sentence of a report: nothing of a file's content may act as Markdown or HTML. */
export function safe(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\|<>[\]`*]/g, (char) => `\\${char}`)
    .trim();
}

/** A Markdown table. Cells must be safe already. */
export function markdownTable(head: string[], rows: string[][]): string {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => ' --- ').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}
