/** The figures of a column without the rows that look wrong: repeated rows, outliers, and values of a stuck sensor. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round, rowList } from '../figure-text.ts';
import { unitColumns } from '../plan-figures.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';
import { outlierRows } from './outliers.ts';
import { duplicateRows } from './rows.ts';
import { seriesIn } from './series.ts';
import { stuckRuns } from './stuck.ts';

const minKept = 8;
const maxColumns = 4;
const maxRows = 50_000;
const groupsNamed = 2;

type Suspect = { what: string; rows: readonly number[] };

/** @param inherited columns of the surrounding record: its rows repeat them, and are no duplicates */
export function badReadingFindings(table: ColumnsInMemory, profile: TableProfile, inherited: readonly string[]): Finding[] {
  if (table.count > maxRows) return [];
  const mixed = unitColumns({ columns: table.plans });
  const repeated = inherited.length > 0 ? [] : duplicateRows(table).map(([again]) => again);
  const series = seriesIn(table);
  return table
    .quantities()
    .filter(({ units, index, values }) => units.size < 2 && !mixed.has(index) && values.distinct > 2)
    .flatMap((plan): Finding[] => {
      const far = outlierRows(profile, table, plan);
      const stuck = stuckRuns(table, plan, series).flatMap(({ rows }) => rows);
      // The sums of measures without duplicates stand beside the duplicates.
      if (far.length + stuck.length === 0 && (repeated.length === 0 || plan.role === 'measure')) return [];
      const suspects: Suspect[] = [
        { what: 'repeated', rows: repeated },
        { what: 'outlying', rows: far },
        { what: 'unchanging', rows: stuck },
      ];
      return without(
        table,
        plan,
        suspects.filter(({ rows }) => rows.length > 0),
      );
    })
    .slice(0, maxColumns);
}

function without(table: ColumnsInMemory, plan: ColumnPlan, suspects: readonly Suspect[]): Finding[] {
  const numbers = table.numbers(plan);
  const bad = new Set<number>();
  const steps: string[] = [];
  for (const { what, rows } of suspects) {
    for (const at of rows) bad.add(at);
    const kept = [...numbers.keys()].filter((at) => !bad.has(at) && !Number.isNaN(numbers[at]!));
    if (kept.length < minKept) break;
    steps.push(`${steps.length === 0 ? '' : 'also '}without ${what} ${rowRanges(table, rows)}: ${figuresOf(table, plan, kept)}`);
  }
  if (steps.length === 0) return [];
  return [{ kind: 'without_bad', text: `${plan.name} ${steps.join('; ')}.${byGroup(table, plan, bad)}` }];
}

/** "row 5", "rows 28 to 35", "rows 3, 7 and 9". */
function rowRanges(table: ColumnsInMemory, rows: readonly number[]): string {
  const numbers = rows.map((at) => table.row(at)).toSorted((a, b) => a - b);
  const adjacent = numbers.length > 2 && numbers.at(-1)! - numbers[0]! === numbers.length - 1;
  return adjacent ? `rows ${numbers[0]} to ${numbers.at(-1)}` : rowList(numbers);
}

function figuresOf(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): string {
  const numbers = table.numbers(plan);
  const sum = rows.reduce((total, at) => total + numbers[at]!, 0);
  const low = rows.reduce((best, at) => (numbers[at]! < numbers[best]! ? at : best));
  const high = rows.reduce((best, at) => (numbers[at]! > numbers[best]! ? at : best));
  const total = plan.role === 'measure' ? `sum ${exact(clean(sum))}, ` : '';
  const where = (at: number) => `${exact(numbers[at]!)} in ${table.rowInWords(at)}`;
  return `${total}mean ${round(sum / rows.length)} over ${countOf(rows.length, 'row')}, lowest ${where(low)}, highest ${where(high)}`;
}

/** The groups of the bad rows, without and with them. */
function byGroup(table: ColumnsInMemory, plan: ColumnPlan, bad: ReadonlySet<number>): string {
  const numbers = table.numbers(plan);
  const additive = plan.role === 'measure';
  const groups = table.plans.filter((each) => isGroup(table, each)).slice(0, groupsNamed);
  return groups
    .map((group) => {
      const names = table.texts(group);
      const figure = (rows: readonly number[]) => {
        const sum = rows.reduce((total, at) => total + numbers[at]!, 0);
        return additive ? exact(clean(sum)) : round(sum / rows.length);
      };
      const each = [...new Set([...bad].map((at) => names[at]!))].flatMap((name) => {
        const all = [...numbers.keys()].filter((at) => names[at] === name && name !== '' && !Number.isNaN(numbers[at]!));
        const kept = all.filter((at) => !bad.has(at));
        return kept.length === 0 || kept.length === all.length
          ? []
          : [`${name} ${figure(kept)} over ${countOf(kept.length, 'row')} (${figure(all)} over ${exact(all.length)} with them)`];
      });
      return each.length === 0 ? '' : ` ${additive ? 'Sum' : 'Mean'} by ${group.name} without them: ${listed(each)}.`;
    })
    .join('');
}
