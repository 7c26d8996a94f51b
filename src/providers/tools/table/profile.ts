/**
 * Profiles a table in two streamed readings: the first finds out what each column is (survey.ts), the second takes the figures. Memory is bounded by
 * the budgets below, not by the file.
 */
import type { Readable } from 'node:stream';
import { Breakdown, type RowNumbers } from './breakdown.ts';
import { type Cell, cellText, isMissing } from './cell.ts';
import { Correlations } from './correlation.ts';
import { UnclosedQuote } from './csv-rows.ts';
import { dateText, parseDate } from './date-format.ts';
import { countKey, shownKey } from './frequent-values.ts';
import { NumberColumn } from './number-column.ts';
import { parseNumber } from './number-format.ts';
import { type ColumnPlan, type Survey, surveyTable } from './survey.ts';
import type { ColumnProfile, TableProfile, TrendProfile } from './table-profile.ts';
import { openTable, type TableSource } from './table-source.ts';

/** Values kept for exact quartiles, over all columns: 24 MB. */
const valueBudget = 3_000_000;
const medianRows = 100_000;
const mostBrokenDown = 8;
const mostGroupings = 6;
const mostGroups = 40;
const mostPeriods = 9_000;
const correlated = 12;
const frequentCandidates = 200;
const frequentShown = 10;
const contextCells = 8;
const dayMs = 86_400_000;

/**
 * Reads the table that `open` gives (called three to five times) and says what is in it. Throws `ToolError`, in words for the agent, when it is
 * no table or cannot be read as one.
 */
export async function profileTable(open: () => Promise<Readable>, name: string, signal?: AbortSignal): Promise<TableProfile> {
  const source = await openTable(open, name, signal);
  const survey = await surveyTrusted(source, signal);
  const reading = new Reading(survey);
  await source.eachRow((cells, row) => reading.add(cells, row), signal);
  const { rows, ragged, columnCount, warnings } = survey;
  if (rows === 0) warnings.unshift(columnCount === 0 ? 'The file is empty.' : 'The table has a header and no rows.');
  return {
    name,
    format: source.format,
    encoding: source.encoding,
    delimiter: source.delimiter,
    has_header: source.hasHeader,
    size_bytes: source.sizeBytes,
    rows,
    column_count: columnCount,
    ragged_rows: ragged,
    warnings: [...source.notes, ...warnings],
    ...reading.result(),
    trimmed: [],
  };
}

/** A quote that never closes swallows the rest of the file; then quotes are not trusted at all. */
async function surveyTrusted(source: TableSource, signal?: AbortSignal): Promise<Survey> {
  try {
    return await surveyTable(source, signal);
  } catch (error) {
    if (!(error instanceof UnclosedQuote)) throw error;
    source.ignoreQuotes(error);
    return surveyTable(source, signal);
  }
}

/** The second reading. */
class Reading {
  readonly #survey: Survey;
  readonly #columns: ColumnReading[];
  readonly #broken: ColumnReading[];
  readonly #groupings: { plan: ColumnPlan; breakdown: Breakdown }[];
  readonly #trend: { plan: ColumnPlan; period: TrendProfile['period']; breakdown: Breakdown } | null;
  readonly #correlations: Correlations;
  readonly #correlated: Float64Array;
  readonly #row: RowNumbers;
  /** The row in hand, for the context of extremes. */
  #cells: readonly Cell[] = [];

  constructor(survey: Survey) {
    this.#survey = survey;
    const numeric = survey.columns.filter((plan) => plan.reads === 'number').length;
    const room = Math.floor(valueBudget / Math.max(numeric, 1));
    this.#columns = survey.columns.map((plan) => new ColumnReading(plan, room));
    const numbers = this.#columns.filter(({ plan }) => plan.reads === 'number');
    this.#broken = numbers.slice(0, mostBrokenDown);
    const names = this.#broken.map(({ plan }) => plan.name);
    const keepValues = survey.rows <= medianRows;
    this.#groupings = survey.columns
      .filter((plan) => canGroup(plan, survey.rows))
      .slice(0, mostGroupings)
      .map((plan) => ({ plan, breakdown: new Breakdown(names, mostGroups, keepValues) }));
    const dates = survey.columns.find((plan) => plan.type === 'date');
    this.#trend =
      dates === undefined ? null : { plan: dates, period: periodOf(dates), breakdown: new Breakdown(names, mostPeriods, false) };
    this.#correlations = new Correlations(numbers.slice(0, correlated).map(({ plan }) => plan.name));
    this.#correlated = new Float64Array(Math.min(numbers.length, correlated));
    this.#row = { values: new Float64Array(names.length), decimals: new Uint8Array(names.length) };
  }

  add(cells: readonly Cell[], row: number): void {
    this.#cells = cells;
    let at = 0;
    for (const column of this.#columns) {
      const cell = cells[column.plan.index] ?? null;
      if (column.plan.reads !== 'number') {
        column.add(cell);
        continue;
      }
      const parsed = column.addNumber(cell, row, this.#context);
      const value = parsed === null ? Number.NaN : parsed.value;
      if (at < this.#correlated.length) this.#correlated[at] = value;
      if (at < this.#broken.length) {
        this.#row.values[at] = value;
        this.#row.decimals[at] = parsed?.decimals ?? 0;
      }
      at++;
    }
    this.#correlations.add(this.#correlated);
    for (const { plan, breakdown } of this.#groupings) {
      const cell = cells[plan.index] ?? null;
      if (!isMissing(cell)) breakdown.add(countKey(cell), this.#row);
    }
    if (this.#trend !== null) {
      const { plan, period, breakdown } = this.#trend;
      const date = parseDate(cells[plan.index] ?? null, plan.order);
      if (date !== null) breakdown.add(dateText(date.ms, false).slice(0, periodChars[period]), this.#row);
    }
  }

  result(): Pick<TableProfile, 'columns' | 'groups' | 'trend' | 'correlations'> {
    return {
      columns: this.#columns.map((column) => column.profile(this.#survey.rows)),
      groups: this.#groupings.map(({ plan, breakdown }) => ({
        by: plan.name,
        values: breakdown
          .entries()
          .map(({ key, rows, figures }) => ({ value: shownKey(key), rows, figures }))
          .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1)),
      })),
      trend: this.#trendResult(),
      correlations: this.#correlations.strongest(),
    };
  }

  #trendResult(): TrendProfile | null {
    if (this.#trend === null) return null;
    const { plan, period, breakdown } = this.#trend;
    const points = breakdown.entries().map(({ key, rows, figures }) => ({ period: key, rows, figures }));
    return { date_column: plan.name, period, points: points.sort((a, b) => (a.period < b.period ? -1 : 1)) };
  }

  #context = (): Record<string, string> =>
    Object.fromEntries(
      this.#survey.columns.slice(0, contextCells).map((plan) => [plan.name, cellText(this.#cells[plan.index] ?? null, 40)]),
    );
}

/** One column in the second reading. */
class ColumnReading {
  readonly plan: ColumnPlan;
  readonly #numbers: NumberColumn | null;
  /** Candidates for the most frequent values, counted exactly; null where the survey's counts are exact already. */
  readonly #recount: Map<string, number> | null;
  #dates = { firstMs: Infinity, lastMs: -Infinity, count: 0, hasTime: false };

  constructor(plan: ColumnPlan, room: number) {
    this.plan = plan;
    this.#numbers = plan.reads === 'number' ? new NumberColumn(plan.filled - plan.unlike, room) : null;
    const listed = plan.reads === 'text' || plan.reads === 'boolean';
    this.#recount = listed && !plan.values.exact ? new Map(plan.values.top(frequentCandidates).map(({ key }) => [key, 0])) : null;
  }

  addNumber(cell: Cell, row: number, context: () => Record<string, string>): { value: number; decimals: number } | null {
    if (isMissing(cell)) return null;
    const parsed = parseNumber(cell, this.plan.style);
    if (parsed !== null) this.#numbers!.add(parsed.value, parsed.decimals, row, context);
    return parsed;
  }

  add(cell: Cell): void {
    if (isMissing(cell)) return;
    if (this.plan.reads === 'date') {
      const date = parseDate(cell, this.plan.order);
      if (date === null) return;
      const dates = this.#dates;
      dates.count++;
      if (date.ms < dates.firstMs) dates.firstMs = date.ms;
      if (date.ms > dates.lastMs) dates.lastMs = date.ms;
      dates.hasTime ||= date.hasTime;
    } else if (this.#recount !== null) {
      const key = countKey(cell);
      const count = this.#recount.get(key);
      if (count !== undefined) this.#recount.set(key, count + 1);
    }
  }

  profile(rows: number): ColumnProfile {
    const { name, type, reads, filled, values, unit, unlike, examples } = this.plan;
    const profile: ColumnProfile = {
      name,
      type,
      missing: rows - filled,
      distinct: Math.min(values.distinct, filled),
      distinct_estimated: !values.exact,
    };
    if (unit !== '') profile.unit = unit;
    const numbers = this.#numbers?.profile();
    if (numbers) profile.numbers = numbers;
    if (this.#dates.count > 0) {
      const { firstMs, lastMs, count, hasTime } = this.#dates;
      profile.dates = { first: dateText(firstMs, hasTime), last: dateText(lastMs, hasTime), count };
    }
    if (reads === 'text' || reads === 'boolean') profile.frequent = this.#frequent();
    if (type === 'mixed') profile.unlike = { count: unlike, examples };
    return profile;
  }

  #frequent(): { value: string; count: number }[] {
    const counted =
      this.#recount === null
        ? this.plan.values.top(frequentShown)
        : [...this.#recount]
            .map(([key, count]) => ({ key, count }))
            .sort((a, b) => b.count - a.count)
            .slice(0, frequentShown);
    return counted.map(({ key, count }) => ({ value: shownKey(key), count }));
  }
}

/** Few values, each of them often: worth figures of their own. */
function canGroup({ type, filled, values }: ColumnPlan, rows: number): boolean {
  if ((type !== 'text' && type !== 'boolean') || !values.exact) return false;
  return values.distinct >= 2 && values.distinct <= mostGroups && values.distinct <= Math.max(2, filled / 2) && rows >= 4;
}

const periodChars = { day: 10, month: 7, year: 4 } as const;

/** Days for up to two months, months for up to ten years, else years. */
function periodOf({ range }: ColumnPlan): TrendProfile['period'] {
  const days = range === null ? 0 : (range.lastMs - range.firstMs) / dayMs;
  return days <= 62 ? 'day' : days <= 3660 ? 'month' : 'year';
}
