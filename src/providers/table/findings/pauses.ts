/** Dates far from all others: a long pause between rows with times, and a single date far before or after the rest. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { round } from '../figure-text.ts';
import { eventDates } from '../plan-figures.ts';
import type { Finding } from '../table-profile.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minTimes = 12;
/** A pause is told if it is so many times the usual step, and the usual steps are nearly all that short. */
const longPause = 20;
const minDates = 5;
const minDistanceInRanges = 1.5;
const minFarMs = 180 * dayMs;
const minFarYears = 9;
const minInGroup = 20;
const maxGroupings = 3;
const minGroupPauseMs = 14 * dayMs;
const timesNext = 2.5;
const maxPauses = 3;
const maxSpread = 5;

export function pauseFindings(table: ColumnsInMemory): Finding[] {
  return eventDates(table.plans, table.count)
    .slice(0, 3)
    .flatMap((plan) => {
      const dates = table.dates(plan);
      const rows = [...dates.keys()].filter((at) => !Number.isNaN(dates[at]!)).sort((a, b) => dates[a]! - dates[b]!);
      return [
        ...farDates(table, plan, dates, rows),
        ...(plan.timed ? longest(table, plan, dates, rows) : []),
        ...pausesOfGroups(table, plan, dates, rows),
      ];
    });
}

function longest(table: ColumnsInMemory, plan: ColumnPlan, dates: Float64Array, rows: readonly number[]): Finding[] {
  if (rows.length < minTimes) return [];
  const steps = rows.slice(1).map((at, i) => ({ from: rows[i]!, to: at, ms: dates[at]! - dates[rows[i]!]! }));
  const ranked = steps.toSorted((a, b) => b.ms - a.ms);
  const usual = ranked[Math.floor(ranked.length * 0.1)]!.ms;
  const [top] = ranked;
  if (usual <= 0 || top!.ms < usual * longPause) return [];
  return [
    {
      kind: 'gaps',
      text: `The longest pause in ${plan.name} is ${lengthOf(top!.ms)}, from ${table.texts(plan)[top!.from]} (row ${table.row(top!.from)}) to ${table.texts(plan)[top!.to]} (row ${table.row(top!.to)}); nine of ten steps are ${lengthOf(usual)} or less.`,
    },
  ];
}

/** A group without rows for much longer than at any other time: a machine that stood still. */
function pausesOfGroups(table: ColumnsInMemory, plan: ColumnPlan, dates: Float64Array, rows: readonly number[]): Finding[] {
  const groups = table.plans.filter(
    ({ reads, values, filled }) => reads === 'text' && values.distinct >= 2 && values.distinct * minInGroup <= filled,
  );
  return groups.slice(0, maxGroupings).flatMap((group): Finding[] => {
    const texts = table.texts(group);
    const found = [
      ...Map.groupBy(
        rows.filter((at) => texts[at] !== ''),
        (at) => texts[at]!,
      ),
    ].flatMap(([name, own]) => {
      if (own.length < minInGroup) return [];
      const steps = own.slice(1).map((at, i) => ({ from: own[i]!, to: at, ms: dates[at]! - dates[own[i]!]! }));
      const [top, next] = steps.toSorted((a, b) => b.ms - a.ms);
      if (top!.ms < minGroupPauseMs || top!.ms < next!.ms * timesNext) return [];
      return [
        `${group.name} ${name} from ${table.texts(plan)[top!.from]} (row ${table.row(top!.from)}) to ${table.texts(plan)[top!.to]} (row ${table.row(top!.to)}), ${lengthOf(top!.ms)}; otherwise at most ${lengthOf(next!.ms)}`,
      ];
    });
    if (found.length === 0 || found.length > maxPauses) return [];
    return [{ kind: 'group_gaps', text: `Long without a row: ${found.join('; ')}.` }];
  });
}

/** Rows with a year far from that of nearly all others. */
export function farYears(plan: ColumnPlan, dates: Float64Array): number[] {
  const yearOf = (ms: number) => new Date(ms).getUTCFullYear();
  const years = Float64Array.from(
    dates.filter((ms) => !Number.isNaN(ms)),
    yearOf,
  ).sort();
  if (years.length === 0 || /birth|geburt/i.test(plan.name)) return [];
  const [low, usual, high] = [0.1, 0.5, 0.9].map((part) => years[Math.floor(years.length * part)]!);
  if (high! - low! > maxSpread) return [];
  const far = [...dates.keys()].filter((at) => Math.abs(yearOf(dates[at]!) - usual!) > minFarYears);
  return far.length > dates.length * 0.05 + 1 ? [] : far;
}

/** The first or the last date, if it is farther from its neighbour than one and a half times the range of all others. */
function farDates(table: ColumnsInMemory, plan: ColumnPlan, dates: Float64Array, rows: readonly number[]): Finding[] {
  if (rows.length < minDates) return [];
  const ends = [
    { at: rows.at(-1)!, next: rows.at(-2)!, range: dates[rows.at(-2)!]! - dates[rows[0]!]!, what: 'after' },
    { at: rows[0]!, next: rows[1]!, range: dates[rows.at(-1)!]! - dates[rows[1]!]!, what: 'before' },
  ];
  const known = farYears(plan, dates);
  return ends.flatMap(({ at, next, range, what }): Finding[] => {
    if (known.includes(at)) return [];
    const far = Math.abs(dates[at]! - dates[next]!);
    if (far < minFarMs || far < range * minDistanceInRanges) return [];
    return [
      {
        kind: 'far_date',
        text: `${table.rowName(at)} has ${plan.name} ${table.texts(plan)[at]}, ${lengthOf(far)} ${what} all others (the next is ${table.texts(plan)[next]}); check it.`.replace(
          /^row/,
          'Row',
        ),
      },
    ];
  });
}

function lengthOf(ms: number): string {
  if (ms >= 2 * 365.25 * dayMs) return `${round(ms / (365.25 * dayMs))} years`;
  if (ms >= 2 * dayMs) return `${round(ms / dayMs)} days`;
  if (ms >= 2 * hourMs) return `${round(ms / hourMs)} hours`;
  return ms >= 120_000 ? `${round(ms / 60_000)} minutes` : `${round(ms / 1000)} seconds`;
}
