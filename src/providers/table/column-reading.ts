/** One column in the second reading of a table: its figures, dates and frequent values. */
import { type Cell, isMissing } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { dateText } from './date-format.ts';
import { ExactSum } from './exact-sum.ts';
import { countKey, shownKey } from './frequent-values.ts';
import { NumberColumn } from './number-column.ts';
import { differentValues, valuesOf } from './spellings.ts';
import type { ColumnProfile } from './table-profile.ts';

const frequentCandidates = 200;
const frequentShown = 10;
const leftOutShown = 6;
const maxUnits = 12;
const mostDerivedValues = 20_000;
const mostDates = 20_000;

type UnitTally = { count: number; sum: ExactSum; min: number; max: number };

export class ColumnReading {
  readonly plan: ColumnPlan;
  readonly derived: boolean;
  private readonly numbers: NumberColumn | null;
  /** Candidates for the most frequent values, counted exactly; null if the survey's counts are already exact. */
  private readonly recount: Map<string, number> | null;
  /** Figures of each unit, if units are mixed; otherwise null. */
  private readonly byUnit: Map<string, UnitTally> | null;
  private readonly derivedValues = new Set<number>();
  /** Different dates, each once however it is written, and texts that are none. */
  private readonly differentDates = new Set<number | string>();
  private dates = { firstMs: Infinity, lastMs: -Infinity, count: 0, hasTime: false, coarse: true };

  /** @param mixed whether its units or currencies are mixed, so that no figure covers all of them */
  constructor(plan: ColumnPlan, room: number, mixed: boolean, derived = false) {
    this.plan = plan;
    this.derived = derived;
    this.byUnit = mixed ? new Map() : null;
    this.numbers = plan.reads === 'number' ? new NumberColumn(plan.filled - plan.unlike, room) : null;
    const listed = plan.reads === 'text' || plan.reads === 'boolean';
    this.recount = listed && !plan.values.exact ? new Map(plan.values.top(frequentCandidates).map(({ key }) => [key, 0])) : null;
  }

  get mixed(): boolean {
    return this.byUnit !== null;
  }

  /** @param otherUnit unit from another column; null if there is none */
  addNumber(
    cell: Cell,
    row: number,
    context: () => Record<string, string>,
    otherUnit: string | null,
  ): { value: number; decimals: number } | null {
    const parsed = readNumber(this.plan, cell);
    if (parsed === null) return null;
    if (this.byUnit !== null) this.addTo(this.byUnit, otherUnit ?? parsed.unit, parsed.value, parsed.decimals);
    this.addValue(parsed.value, parsed.decimals, row, context);
    return parsed;
  }

  addValue(value: number, decimals: number, row: number, context: () => Record<string, string>): void {
    if (this.derived && this.derivedValues.size < mostDerivedValues) this.derivedValues.add(value);
    this.numbers!.add(value, decimals, row, context);
  }

  add(cell: Cell): void {
    if (isMissing(cell)) return;
    if (this.plan.reads === 'date') {
      const date = this.plan.readDate(cell);
      if (this.differentDates.size < mostDates) this.differentDates.add(date?.ms ?? countKey(cell));
      if (date === null) return;
      const dates = this.dates;
      dates.count++;
      if (date.ms < dates.firstMs) dates.firstMs = date.ms;
      if (date.ms > dates.lastMs) dates.lastMs = date.ms;
      dates.hasTime ||= date.hasTime;
      dates.coarse &&= date.coarse;
    } else if (this.recount !== null) {
      const key = countKey(cell);
      const count = this.recount.get(key);
      if (count !== undefined) this.recount.set(key, count + 1);
    }
  }

  profile(rows: number): ColumnProfile {
    const { name, type, role, reads, filled, values, unit, unlike, examples, leftOut, min, max } = this.plan;
    const profile: ColumnProfile = {
      name,
      type,
      role,
      missing: rows - filled,
      distinct: Math.min(differentValues(this.plan), filled),
      distinct_estimated: !values.exact,
    };
    if (unit !== '') profile.unit = unit;
    const numbers = this.numbers?.profile();
    if (this.derived) {
      profile.derived = true;
      profile.missing = rows - (numbers?.count ?? 0);
      profile.distinct = this.derivedValues.size;
      profile.distinct_estimated = this.derivedValues.size === mostDerivedValues;
    }
    if (reads === 'date' && this.differentDates.size < mostDates) {
      profile.distinct = this.differentDates.size;
      profile.distinct_estimated = false;
    }
    if (this.byUnit !== null)
      profile.by_unit = [...this.byUnit]
        .map(([each, tally]) => ({ unit: each, count: tally.count, sum: tally.sum.total(), min: tally.min, max: tally.max }))
        .sort((a, b) => b.count - a.count);
    else if (numbers) profile.numbers = numbers;
    if (type === 'integer' && reads === 'text' && filled > 0) profile.range = { min, max };
    if (this.dates.count > 0) {
      const { firstMs, lastMs, count, hasTime, coarse } = this.dates;
      const text = (ms: number) => (coarse ? dateText(ms, false).slice(0, 7) : dateText(ms, hasTime, this.plan.inUtc));
      profile.dates = { first: text(firstMs), last: text(lastMs), count };
    }
    if (reads === 'text' || reads === 'boolean') profile.frequent = this.frequent();
    if (type === 'mixed') profile.unlike = { count: unlike, examples };
    if (leftOut.length > 0) profile.left_out = leftOut.slice(0, leftOutShown);
    return profile;
  }

  private addTo(tallies: Map<string, UnitTally>, unit: string, value: number, decimals: number): void {
    let tally = tallies.get(unit);
    if (tally === undefined) {
      if (tallies.size === maxUnits) return;
      tallies.set(unit, (tally = { count: 0, sum: new ExactSum(), min: Infinity, max: -Infinity }));
    }
    tally.count++;
    tally.sum.add(value, decimals);
    if (value < tally.min) tally.min = value;
    if (value > tally.max) tally.max = value;
  }

  private frequent(): { value: string; count: number }[] {
    const merged = valuesOf(this.plan).toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
    if (merged.length > 0) return merged.slice(0, frequentShown).map(({ name, count }) => ({ value: shownKey(name), count }));
    const counted =
      this.recount === null
        ? this.plan.values.top(frequentShown)
        : [...this.recount]
            .map(([key, count]) => ({ key, count }))
            .sort((a, b) => b.count - a.count)
            .slice(0, frequentShown);
    return counted.map(({ key, count }) => ({ value: shownKey(key), count }));
  }
}
