/** Figures as a report writes them, and which columns of a profile they are worth writing about. */
import type { ColumnProfile, TableProfile } from '../../tools/table/table-profile.ts';

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

/** Measures whose sum means something: no prices, rates and percentages, as long as there are others. */
export function additiveMeasures(profile: TableProfile): ColumnProfile[] {
  const found = measures(profile);
  const additive = found.filter(({ name, unit }) => unit !== '%' && !/price|rate|ratio|percent|average|avg|preis|quote/i.test(name));
  return additive.length > 0 ? additive : found;
}

/** The column a reader most likely means by "the figures": money first, then the one with the largest sum. */
export function mainMeasure(profile: TableProfile): ColumnProfile | undefined {
  const found = additiveMeasures(profile);
  const money = found.find(({ name }) => /amount|revenue|sales|turnover|total|umsatz|betrag|profit|cost|spend|volume/i.test(name));
  return money ?? found.toSorted((a, b) => Math.abs(b.numbers!.sum) - Math.abs(a.numbers!.sum))[0];
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
