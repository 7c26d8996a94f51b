/** A ratio that a task asks for, as arguments of profile_table: of two columns of one table, or of two joined tables. */
import type { Ratio } from '../../table/findings/ratio.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { ratioIn } from './ratios.ts';

/** A requested ratio of two columns of one table. */
export function ratioOfOne(request: string, tables: readonly TableProfile[]): { table: string; ratio: Ratio } | null {
  const ratio = ratioIn(request, tables);
  const table = ratio === null ? undefined : tables.find((each) => hasColumn(each, ratio.of) && hasColumn(each, ratio.per));
  return ratio === null || table === undefined ? null : { table: table.name, ratio };
}

/** A requested ratio of a column of one table to a column of the other. */
export function ratioOfTwo(request: string, tables: readonly TableProfile[], left: string, right: string): Ratio | null {
  const ratio = ratioIn(request, tables);
  const [a, b] = [left, right].map((path) => tables.find(({ name }) => name === path));
  if (ratio === null || a === undefined || b === undefined) return null;
  if (tables.some((table) => hasColumn(table, ratio.of) && hasColumn(table, ratio.per))) return null;
  const isOf = (one: TableProfile, other: TableProfile) => hasColumn(one, ratio.of) && hasColumn(other, ratio.per);
  return isOf(a, b) || isOf(b, a) ? ratio : null;
}

function hasColumn({ columns }: TableProfile, column: string): boolean {
  return columns.some(({ name }) => name === column);
}

/** As arguments of profile_table. */
export function ratioArguments({ of, per, times }: Ratio): Record<string, string | number> {
  return { ratio_of: of, ratio_per: per, ...(times === undefined ? {} : { ratio_times: times }) };
}
