/** "between 2 and 8 °C", "the limit is 6 kW": which values of a column are beyond what the task names, told only where the profile's figures prove it. */
import { nameTokens } from '../../tools/table/column-role.ts';
import type { ColumnProfile, TableProfile } from '../../tools/table/table-profile.ts';
import { countOf, exact, listed, safe } from './figure.ts';
import type { Answer } from './report.ts';

type Limit = { low: number | null; high: number | null; unit: string };

const figure = '(-?\\d{1,9}(?:[.,]\\d{1,4})?)';
const unit = '(?: ?(°C|°F|%|[A-Za-zµ]{1,4}(?![\\p{L}])))?';
const range = new RegExp(`(?<![\\p{L}])(?:between|from|zwischen|von) ${figure}${unit} (?:and|to|und|bis) ${figure}${unit}`, 'iu');
const top = new RegExp(
  `(?<![\\p{L}])(?:(?:limit|maximum|threshold|Grenzwert|Grenze|Höchstwert) (?:is |of |von |ist |liegt bei |: ?)?|(?:not (?:be )?(?:more than|above|over|exceed)|exceeds?|at most|höchstens|nicht über|nicht mehr als) )${figure}${unit}`,
  'iu',
);
const bottom = new RegExp(
  `(?<![\\p{L}])(?:(?:minimum|Mindestwert) (?:is |of |von |ist )?|(?:not (?:be )?(?:less than|below|under)|at least|mindestens|nicht unter) )${figure}${unit}`,
  'iu',
);
const unitNames: Readonly<Record<string, readonly string[]>> = {
  '°C': ['c', 'celsius', 'temp', 'temperature', 'temperatur', 'grad'],
  '°F': ['f', 'fahrenheit', 'temp', 'temperature'],
  '%': ['percent', 'pct', 'prozent', 'humidity', 'feuchte', 'rate', 'share'],
};
const shown = 10;

export function limitAnswers(task: string, tables: readonly TableProfile[]): Answer[] {
  const limit = limitIn(task.slice(0, 8000));
  if (limit === null) return [];
  return tables
    .flatMap((table) =>
      table.columns.filter((column) => column.numbers !== undefined && fits(column, limit, table)).map((column) => ({ table, column })),
    )
    .slice(0, 4)
    .map(({ table, column }) => answer(table, column, limit));
}

function limitIn(task: string): Limit | null {
  const number = (text: string | undefined) => (text === undefined ? null : Number(text.replace(',', '.')));
  const both = range.exec(task);
  if (both !== null) {
    const [low, high] = [number(both[1])!, number(both[3])!];
    // Years and days are periods, not limits.
    if (low < high && !(low >= 1900 && high <= 2100)) return { low, high, unit: both[4] ?? both[2] ?? '' };
  }
  const [above, below] = [top.exec(task), bottom.exec(task)];
  if (above === null && below === null) return null;
  return { low: number(below?.[1]), high: number(above?.[1]), unit: above?.[2] ?? below?.[2] ?? '' };
}

/** A column that carries the unit, in its values or in its name; without a unit, the only column of numbers. */
function fits({ name, unit: own, numbers }: ColumnProfile, limit: Limit, table: TableProfile): boolean {
  const wanted = limit.unit;
  if (wanted === '') return table.columns.filter((column) => column.numbers !== undefined).length === 1 && numbers !== undefined;
  const names = unitNames[wanted] ?? [wanted.toLowerCase()];
  return own === wanted || nameTokens(name).some((token) => names.includes(token));
}

function answer(table: TableProfile, column: ColumnProfile, { low, high }: Limit): Answer {
  const numbers = column.numbers!;
  const { min, max, outliers, count } = numbers;
  const name = safe(column.name);
  const said: string[] = [];
  const side = (beyond: (value: number) => boolean, word: string, limit: number, extreme: number, fenceInside: boolean) => {
    if (!beyond(extreme)) {
      said.push(`${name} is never ${word} ${exact(limit)} (${countOf(count, 'value')}; the nearest is ${exact(extreme)}).`);
      return;
    }
    const complete = fenceInside && !numbers.quantiles_estimated && outliers.count <= outliers.most_extreme.length;
    const rows = outliers.most_extreme.filter(({ value }) => beyond(value));
    said.push(
      complete
        ? `${name} is ${word} ${exact(limit)} in ${countOf(rows.length, 'row')} of ${exact(count)}: ${listed(
            rows.map(({ row, value, cells }) => `${exact(value)} in row ${row}${whenOf(table, cells)}`),
            shown,
          )}.`
        : `${name} is ${word} ${exact(limit)} at least once: its extreme is ${exact(extreme)}. How often was not counted.`,
    );
  };
  if (high !== null) side((value) => value > high, 'above', high, max, outliers.high_fence <= high);
  if (low !== null) side((value) => value < low, 'below', low, min, outliers.low_fence >= low);
  return { question: `Limits for ${column.name} (${table.name})`, short: said.join(' ').replace(/\.$/, ''), lines: said };
}

function whenOf(table: TableProfile, cells: Record<string, string>): string {
  const date = table.columns.find(({ dates }) => dates !== undefined)?.name;
  const text = date === undefined ? undefined : cells[date];
  return text === undefined || text === '' ? '' : ` (${safe(text)})`;
}
