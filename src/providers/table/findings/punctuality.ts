/** A due date and a date of completion: the share on time and the lateness by group, and the rows that are still open. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed, percent, round, rowList } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { dueAndDone, isDoneName } from './due-dates.ts';
import { duplicateRows } from './rows.ts';
import { rowsByValue } from './spans.ts';

const dayMs = 86_400_000;
const maxGroups = 12;
const maxColumns = 3;
const namesShown = 8;
/** A share of fewer rows is marked. */
const fewRows = 5;
const minRows = 5;
/** Few rows that are done before another of their dates are mistakes; many show another order of the dates. */
const maxImpossible = 0.1;

type Row = number;

export function punctualityFindings(table: ColumnsInMemory): Finding[] {
  const dates = table.plans.filter(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  const repeated = duplicateRows(table).map(([later]) => later);
  const again = new Set(repeated);
  const once = [...table.rows.cells.keys()].filter((at) => !again.has(at));
  const { due, done } = dueAndDone(dates);
  const ended = done ?? dates.find(({ name }) => isDoneName(name));
  return [
    ...(due === undefined || done === undefined ? [] : shares(table, { due, done, dates, once, repeated })),
    ...(ended === undefined ? [] : open(table, ended, once)),
  ];
}

type Dates = { due: ColumnPlan; done: ColumnPlan; dates: readonly ColumnPlan[]; once: readonly Row[]; repeated: readonly Row[] };

function shares(table: ColumnsInMemory, { due, done, dates, once, repeated }: Dates): Finding[] {
  const [by, at] = [table.dates(due), table.dates(done)];
  const both = once.filter((row) => !Number.isNaN(by[row]!) && !Number.isNaN(at[row]!));
  const earlier = dates.flatMap((plan) => {
    if (plan === due || plan === done) return [];
    const before = both.filter((row) => at[row]! < table.dates(plan)[row]!);
    return before.length > 0 && before.length <= Math.max(1, both.length * maxImpossible) ? [{ plan, before }] : [];
  })[0];
  const impossible = earlier?.before ?? [];
  const isImpossible = new Set(impossible);
  const rows = both.filter((row) => !isImpossible.has(row));
  if (rows.length < minRows) return [];
  const daysLate = (row: Row) => Math.floor(at[row]! / dayMs) - Math.floor(by[row]! / dayMs);
  const isLate = (row: Row) => daysLate(row) > 0;
  const onTime = (own: readonly Row[]) => own.filter((row) => !isLate(row)).length;
  const share = (own: readonly Row[], note = '') =>
    `${exact(onTime(own))} of ${exact(own.length)} (${percent(onTime(own), own.length)}${note})`;
  const groups = groupPlans(table).map((plan) => ({ plan, groups: rowsByValue(table, plan, rows) }));
  const byGroup = groups.map(({ plan, groups: own }) => {
    const ranked = own.toSorted((x, y) => onTime(y[1]) / y[1].length - onTime(x[1]) / x[1].length);
    return ` By ${plan.name}: ${ranked.map(([key, members]) => `${key} ${share(members, members.length < fewRows ? ', too few rows to compare' : '')}`).join(', ')}.`;
  });
  const late = rows.filter(isLate);
  const lateness = (own: readonly Row[]) =>
    `${round(own.reduce((sum, row) => sum + daysLate(row), 0) / own.length)} days (${countOf(own.length, 'row')}, at most ${exact(own.reduce((most, row) => Math.max(most, daysLate(row)), 0))})`;
  const lateByGroup = groups.flatMap(({ plan }) => {
    const own = rowsByValue(table, plan, late).toSorted((x, y) => y[1].length - x[1].length);
    return own.length === 0 ? [] : [`; by ${plan.name}: ${own.map(([key, members]) => `${key} ${lateness(members)}`).join(', ')}`];
  });
  return [
    {
      kind: 'on_time',
      text: `On time (${done.name} not after the day of ${due.name}): ${share(rows)} rows with both dates.${byGroup.join('')}${leftOut()}`,
    },
    ...(late.length === 0
      ? []
      : [
          {
            kind: 'late',
            text: `Late rows (${done.name} after ${due.name}) are late on average by ${lateness(late)}${lateByGroup.join('')}.`,
          },
        ]),
  ];

  /** What the shares do not contain, and how they would be with it. */
  function leftOut(): string {
    const openRows = once.filter((row) => Number.isNaN(at[row]!)).length;
    const parts = [
      ...(repeated.length > 0 ? [`repeated ${rowList(repeated.map((row) => table.row(row)))}`] : []),
      ...(impossible.length > 0
        ? [
            `${listed(
              impossible.map((row) => table.rowName(row)),
              namesShown,
            )} with ${done.name} before ${earlier!.plan.name}${withThem(impossible)}`,
          ]
        : []),
      ...(openRows > 0 ? [`${countOf(openRows, 'row')} without ${done.name}`] : []),
    ];
    return parts.length === 0 ? '' : ` Not in these shares: ${listed(parts)}.`;
  }

  function withThem(extra: readonly Row[]): string {
    const changed = groups
      .slice(0, 1)
      .flatMap(({ plan, groups: own }) =>
        rowsByValue(table, plan, extra).map(
          ([key, added]) => `${key} ${share([...(own.find(([name]) => name === key)?.[1] ?? []), ...added])}`,
        ),
      );
    return changed.length === 0 ? '' : ` (with ${extra.length === 1 ? 'it' : 'them'} ${changed.slice(0, namesShown).join(', ')})`;
  }
}

/** Rows without a date of completion, by group and by name. */
function open(table: ColumnsInMemory, done: ColumnPlan, once: readonly Row[]): Finding[] {
  const texts = table.texts(done);
  const rows = once.filter((row) => texts[row] === '');
  if (rows.length === 0 || rows.length === once.length) return [];
  const name = (row: Row) => table.label(row) || `row ${table.row(row)}`;
  const byGroup = groupPlans(table).map((plan) => {
    const own = rowsByValue(table, plan, rows).toSorted((x, y) => y[1].length - x[1].length);
    return ` By ${plan.name}: ${own.map(([key, members]) => `${key} ${exact(members.length)} (${listed(members.map(name), namesShown)})`).join(', ')}.`;
  });
  if (byGroup.length === 0) return [];
  const counted = texts.filter((text) => text === '').length > rows.length ? ', repeated ones counted once' : '';
  return [{ kind: 'open', text: `Without ${done.name}: ${countOf(rows.length, 'row')}${counted}.${byGroup.join('')}` }];
}

function groupPlans(table: ColumnsInMemory): ColumnPlan[] {
  return table.plans
    .filter(
      ({ reads, type, values, filled, codes }) =>
        reads === 'text' &&
        type === 'text' &&
        !codes &&
        filled >= table.count * 0.8 &&
        values.distinct >= 2 &&
        values.distinct <= Math.min(maxGroups, filled / 2),
    )
    .slice(0, maxColumns);
}
