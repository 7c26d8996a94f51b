/** A key that a file writes in several ways ("HB-KT 103", "HBKT103") would be two groups: the joined files group by it, the file alone does not. */
import type { JoinProfile } from '../../table/join.ts';
import type { TableProfile } from '../../table/table-profile.ts';

/** The tables without groups by the key columns for which a join took several spellings together. */
export function withoutSplitKeys(tables: readonly TableProfile[], joins: readonly JoinProfile[]): TableProfile[] {
  const split = joins.flatMap(({ left, right, key, remarks }) => {
    const files = [left, right].filter((file) =>
      remarks.some(({ kind, text }) => kind === 'join_by_key' && text.includes(` of ${file}, `)),
    );
    return files.map((file) => ({ file, column: file === left ? key?.left : key?.right }));
  });
  return tables.map((table) => ({
    ...table,
    groups: table.groups.filter(({ by }) => !split.some(({ file, column }) => file === table.name && column === by)),
  }));
}
