/** Columns that group the rows in the same way, such as the number and the name of a customer: their figures are equal and are told once. */
import type { GroupProfile } from './table-profile.ts';

/** The groups without those that repeat another; of equal ones that with names stays rather than that with codes. */
export function withoutEqualGroups(groups: readonly GroupProfile[]): GroupProfile[] {
  const alike = Map.groupBy(groups, (group) => figuresOf(group) ?? group.by);
  const kept = new Set([...alike.values()].map((own) => own.find((group) => !hasCodes(group)) ?? own[0]!));
  return groups.filter((group) => kept.has(group));
}

/** Null where the figures could be equal by chance. */
function figuresOf({ values }: GroupProfile): string | null {
  const figures = values.map((value) => JSON.stringify([value.rows, value.figures])).sort();
  return new Set(figures).size < 2 || values.every((value) => Object.keys(value.figures).length === 0) ? null : JSON.stringify(figures);
}

function hasCodes({ values }: GroupProfile): boolean {
  return values.every(({ value }) => /\d/.test(value));
}
