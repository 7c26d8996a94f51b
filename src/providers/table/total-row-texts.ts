/** What is told of total rows: that they are no records, and whether they agree with the rows that they add up. */
import { type Cell, cellText, isFormula } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { countOf, exact, listed, rowList } from './figure-text.ts';
import { near } from './summed-rows.ts';
import type { Finding } from './table-profile.ts';

/** A total row as it was found. `block` are the sums of the rows since the last total, `above` those of all rows above. */
export type FoundTotal = {
  at: number;
  number: number;
  label: string;
  kind: 'total' | 'phrase' | 'aggregate';
  cells: readonly Cell[];
  values: readonly number[];
  block: readonly number[];
  above: readonly number[];
  /** Columns whose sum the row contains. */
  adds: string[];
  /** Records since the last total row. */
  rows: number;
  /** Name of the group that the row adds up; '' if that is not told beside the label. */
  group: string;
};
/** A total row with a finding on it; the text is empty where an earlier one tells it too. */
export type TotalRow = Omit<FoundTotal, 'values' | 'block' | 'above'> & { text: string; isWrong: boolean };

type Told = { right: string[]; wrong: string[]; computed: string };

const maxDescribed = 40;
const wrongShown = 6;
const rowsNamed = 12;
const maxFormulaChars = 60;
/** Total rows that agree in a column show that it is added up. */
const minAgreeing = 2;

export function describeTotals(found: readonly FoundTotal[], numeric: readonly ColumnPlan[]): TotalRow[] {
  const agreeing = numeric.map(({ name }) => found.filter(({ adds }) => adds.includes(name)).length);
  const told = found.map((total, i) => toldOf(total, numeric, agreeing, i > 0));
  const alike = Map.groupBy(
    [...found.keys()].filter((i) => found[i]!.kind !== 'aggregate' && told[i]!.wrong.length === 0 && told[i]!.right.length > 0),
    (i) => found[i]!.label,
  );
  return found.map(({ values: _, block: __, above: ___, ...total }, i) => {
    const same = total.label === '' ? undefined : alike.get(total.label);
    const isWrong = told[i]!.wrong.length > 0;
    if (i >= maxDescribed || (same?.includes(i) === true && same[0] !== i)) return { ...total, text: '', isWrong };
    if (same === undefined || same.length < 2 || !same.includes(i)) return { ...total, text: textOf(total, told[i]!), isWrong };
    const rows = rowList(
      same.map((each) => found[each]!.number),
      rowsNamed,
    );
    return {
      ...total,
      text: `${countOf(same.length, 'row')} "${total.label}" (${rows}) are totals, not records; they are left out of all sums and counts, and agree with the sums of their rows.`,
      isWrong,
    };
  });
}

export function totalFindings(rows: readonly TotalRow[]): Finding[] {
  return rows.flatMap(({ text, isWrong }) => (text === '' ? [] : [{ kind: isWrong ? 'total_wrong' : 'total', text }]));
}

function toldOf(
  { label, kind, cells, values, block, above }: FoundTotal,
  numeric: readonly ColumnPlan[],
  agreeing: readonly number[],
  isLater: boolean,
): Told {
  const right: string[] = [];
  const wrong: string[] = [];
  const unsure: string[] = [];
  const partial = isLater && /sub|zwischen/i.test(label);
  for (const [i, { name, role }] of numeric.entries()) {
    const value = values[i]!;
    if (kind === 'aggregate' || Number.isNaN(value) || (role !== 'measure' && role !== 'unclear')) continue;
    if (near(value, above[i]!) || near(value, block[i]!)) right.push(`${name} ${exact(value)}`);
    else {
      const sum = Number((kind === 'phrase' || partial ? block[i]! : above[i]!).toPrecision(12));
      (role === 'measure' || agreeing[i]! >= minAgreeing ? wrong : unsure).push(
        `${name} is written as ${exact(value)} but the rows add up to ${exact(sum)} (difference ${exact(Number((value - sum).toPrecision(12)))}, too ${value > sum ? 'high' : 'low'})`,
      );
    }
  }
  // Most columns are added up, so the others are expected to be.
  if (right.length > unsure.length) wrong.push(...unsure);
  const computed =
    kind === 'aggregate'
      ? ''
      : right.length + wrong.length === 0 && values.every((value) => Number.isNaN(value))
        ? '; its figures are formulas, which are not computed'
        : numeric
            .filter(({ index }) => isFormula(cells[index] ?? null))
            .map(({ name, index }) => `; ${name} is the formula ${cellText(cells[index] ?? null, maxFormulaChars)}, not a value`)
            .join('');
  return { right, wrong, computed };
}

function textOf(
  { number, label, kind, group, rows }: Pick<FoundTotal, 'number' | 'label' | 'kind' | 'group' | 'rows'>,
  { right, wrong, computed }: Told,
): string {
  const head = `Row ${number}${label === '' ? ', which holds figures only,' : ` ("${label}"${group === '' || rows === 0 || label.includes(group) ? '' : ` of ${group}`})`} is ${kind === 'aggregate' ? 'an aggregate of the rows' : 'a total'}, not a record; it is left out of all sums and counts`;
  const agrees = right.length > 0 ? `; it agrees with the sum of its rows (${listed(right, 4)})` : '';
  const differs =
    wrong.length > 0
      ? `; it does not agree with the rows: ${wrong.slice(0, wrongShown).join('; ')}${wrong.length > wrongShown ? `; and in ${countOf(wrong.length - wrongShown, 'more column')}` : ''}`
      : '';
  return `${head}${agrees}${differs}${computed}.`;
}
