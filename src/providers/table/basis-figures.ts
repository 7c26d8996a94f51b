/** Puts the figures of the rows that count into a table's profile, beside those of all rows. */
import type { Basis } from './basis.ts';
import type { ColumnProfile, Figures, TableProfile } from './table-profile.ts';

type TableFigures = Pick<TableProfile, 'columns' | 'groups' | 'trend' | 'correlations'>;

const rowsNamed = 20;

/** The profile with the figures of the rows that count, each beside the figure of all rows; by status, of all rows that are no repetition. */
export function restOn({ counted, leftOut, status }: Basis, all: TableProfile, own: TableFigures, byStatus: TableFigures): TableProfile {
  return {
    ...all,
    basis: {
      rows: counted.rows.cells.length,
      left_out: leftOut.map(({ rows, ...each }) => ({ ...each, rows: rows.slice(0, rowsNamed) })),
    },
    columns: all.columns.map((column) => withFiguresOf(column, own.columns)),
    groups: all.groups.flatMap((group) => {
      if (group.by === status)
        return [{ ...group, is_status: true as const, values: byStatus.groups.find(({ by }) => by === status)?.values ?? group.values }];
      const found = own.groups.find(({ by }) => by === group.by);
      return found === undefined ? [] : [{ ...found, values: beside(found.values, group.values, ({ value }) => value) }];
    }),
    trend:
      own.trend === null || all.trend === null || own.trend.period !== all.trend.period
        ? own.trend
        : { ...own.trend, points: beside(own.trend.points, all.trend.points, ({ period }) => period) },
    correlations: own.correlations,
  };
}

/** A column that only rows that are left out have keeps its figures. */
function withFiguresOf(column: ColumnProfile, columns: readonly ColumnProfile[]): ColumnProfile {
  const own = columns.find(({ name, derived }) => name === column.name && derived === column.derived);
  if (own?.by_unit !== undefined) return { ...column, by_unit: own.by_unit };
  if (own?.numbers === undefined || column.numbers === undefined) return column;
  const { count, sum, mean } = column.numbers;
  const same = own.numbers.count === count && own.numbers.sum === sum;
  return { ...column, numbers: same ? own.numbers : { ...own.numbers, all: { count, sum, mean } } };
}

/** Adds the figures of all rows where they differ. */
function beside<Each extends { rows: number; figures: Record<string, Figures> }>(
  counted: readonly Each[],
  all: readonly Each[],
  key: (each: Each) => string,
): Each[] {
  const known = new Map(all.map((each) => [key(each), each]));
  return counted.map((each) => {
    const whole = known.get(key(each));
    if (whole === undefined || JSON.stringify(whole.figures) === JSON.stringify(each.figures)) return each;
    return { ...each, all: { rows: whole.rows, figures: whole.figures } };
  });
}
