/** Rows that lack a value the others have, the few rows that have a value the others lack, and rows with a quantity of zero. */

import type { Period } from '../asked-period.ts';
import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { untrueReadings } from '../lone-spikes.ts';
import { isPrice, isQuantity } from '../plan-figures.ts';
import type { Scale } from '../scales.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import type { Months } from './growth.ts';
import type { Ratio } from './ratio.ts';

/** More rows than this are counted, not named. */
const maxNamed = 6;
const maxFindings = 6;
const minRows = 6;
/** So few zeros, as a share of the rows, are suspect in a measure of any name; they are told with the next lowest value. */
const maxLone = 2;
const maxLoneShare = 0.03;
const maxGroups = 20;
/** Values that exist on some days only. */
const dailyWords = new Set(
  'rain rainfall precipitation niederschlag regen snow schnee sunshine sales visitors visits orders absent absences defects scrap accidents incidents unfälle downtime delay goals besucher umsatz'.split(
    ' ',
  ),
);

/** @param own columns that belong to the rows themselves, not to a surrounding record */
export function missingFindings(table: ColumnsInMemory, own: ReadonlySet<ColumnPlan>): Finding[] {
  const plans = table.plans.filter((plan) => own.has(plan) && plan.type !== 'empty');
  return [...lacking(table, plans), ...having(table, plans), ...onlyIn(table, plans), ...zeros(table, plans)];
}

/** "nitrate is missing in row 8 (W008)"; columns that are missing in the same rows are reported together. */
function lacking(table: ColumnsInMemory, plans: readonly ColumnPlan[]): Finding[] {
  const alike = new Map<string, { names: string[]; rows: number[] }>();
  for (const plan of plans) {
    const rows = emptyRows(table, plan);
    if (rows.length === 0 || rows.length > maxNamed || rows.length > table.count * 0.5) continue;
    const known = alike.get(rows.join());
    if (known === undefined) alike.set(rows.join(), { names: [plan.name], rows });
    else known.names.push(plan.name);
  }
  return [...alike.values()].slice(0, maxFindings).map(({ names, rows }) => ({
    kind: 'missing_rows',
    text: `${listed(names, 8)} ${names.length === 1 ? 'is' : 'are'} missing in ${listed(
      rows.map((at) => table.rowInWords(at)),
      maxNamed,
    )}.`,
  }));
}

/** A column with a value in only a few rows: which rows, and the values. */
function having(table: ColumnsInMemory, plans: readonly ColumnPlan[]): Finding[] {
  if (table.count < minRows) return [];
  return plans
    .filter(({ filled, reads }) => filled > 0 && filled <= maxNamed && filled <= table.count * 0.3 && reads === 'text')
    .slice(0, 3)
    .map((plan) => {
      const texts = table.texts(plan);
      const rows = [...texts.keys()].filter((at) => texts[at] !== '');
      return {
        kind: 'few_filled',
        text: `${plan.name} has a value in ${countOf(rows.length, 'row')} only: ${listed(
          rows.map((at) => `'${cellText(texts[at]!, 60)}' in ${table.rowInWords(at)}`),
          maxNamed,
        )}.`,
      };
    });
}

/** If all rows without a value are in one group, and not all rows of the table are. */
function onlyIn(table: ColumnsInMemory, plans: readonly ColumnPlan[]): Finding[] {
  const groups = plans.filter(
    ({ reads, values, filled }) => reads === 'text' && values.distinct >= 2 && values.distinct <= maxGroups && filled >= table.count * 0.9,
  );
  return plans
    .flatMap((plan): Finding[] => {
      const rows = emptyRows(table, plan);
      if (rows.length < 4 || rows.length > table.count * 0.6) return [];
      return groups
        .filter((group) => group !== plan)
        .flatMap((group) => {
          const texts = table.texts(group);
          const value = texts[rows[0]!]!;
          const all = texts.filter((text) => text === value).length;
          if (value === '' || all > table.count * 0.7 || rows.some((at) => texts[at] !== value)) return [];
          return [
            {
              kind: 'missing_group',
              text: `All ${exact(rows.length)} rows without ${plan.name} have ${group.name} '${cellText(value, 60)}'${all === rows.length ? ', and all rows with it lack it' : ` (which ${exact(all)} rows have)`}.`,
            },
          ];
        })
        .slice(0, 1);
    })
    .slice(0, 3);
}

/** Stock, quantities and counts that are zero in a few rows. */
function zeros(table: ColumnsInMemory, plans: readonly ColumnPlan[]): Finding[] {
  return plans
    .filter(
      ({ reads, role, name, min, index }) =>
        reads === 'number' &&
        role === 'measure' &&
        min === 0 &&
        !isPrice(name) &&
        (isQuantity(name) || has(nameTokens(name), dailyWords) || isLone(table, zerosOf(table, index))),
    )
    .flatMap((plan) => {
      const numbers = table.numbers(plan);
      const rows = [...numbers.keys()].filter((at) => numbers[at] === 0);
      if (rows.length === 0) return [];
      if (rows.length > table.count * 0.25)
        return [{ kind: 'zeros', text: `${plan.name} is 0 in ${exact(rows.length)} of ${countOf(table.count, 'row')}.` }];
      return [
        {
          kind: 'zeros',
          text: `${plan.name} is 0 in ${countOf(rows.length, 'row')}: ${listed(
            rows.slice(0, maxNamed).map((at) => table.rowInWords(at)),
            maxNamed,
          )}${rows.length > maxNamed ? ' and more' : ''}${isLone(table, rows.length) ? loneZero(table, plan, rows) : ''}.`,
        },
      ];
    })
    .slice(0, 3);
}

function isLone({ count }: ColumnsInMemory, zeroRows: number): boolean {
  return zeroRows <= Math.max(maxLone, Math.min(maxNamed, count * maxLoneShare));
}

function zerosOf(table: ColumnsInMemory, index: number): number {
  const plan = table.plans.find((each) => each.index === index)!;
  return table.numbers(plan).reduce((count, value) => count + (value === 0 ? 1 : 0), 0);
}

/** The next lowest value, and a measure that is as large as usual in the row with a zero, such as takings without visitors. */
function loneZero(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): string {
  const ranked = table
    .numbers(plan)
    .filter((value) => value > 0)
    .sort();
  if (ranked.length < minRows) return '';
  const beside = table
    .quantities()
    .filter((other) => other !== plan && other.role === 'measure' && other.units.size < 2 && other.min >= 0)
    .flatMap((other) => {
      const numbers = table.numbers(other);
      const sorted = numbers.filter((value) => !Number.isNaN(value)).sort();
      const usual = sorted[sorted.length >> 2]!;
      return usual > 0 && rows.every((at) => numbers[at]! >= usual)
        ? [`${other.name} ${listed(rows.map((at) => exact(numbers[at]!)))}`]
        : [];
    })
    .slice(0, 2);
  const stand = rows.length === 1 && beside.length === 1 ? 'stands' : 'stand';
  return `; the next lowest is ${exact(ranked[0]!)}${beside.length === 0 ? '' : `, and ${listed(beside)} ${stand} beside it as elsewhere`}${sameGroup(table, rows)}`;
}

/** The value that several rows have in common, and most others have not. */
function sameGroup(table: ColumnsInMemory, rows: readonly number[]): string {
  const common = table.plans.flatMap((plan) => {
    if (plan.reads !== 'text' || plan.values.distinct < 2 || plan.values.distinct > maxGroups || rows.length < 2) return [];
    const texts = table.texts(plan);
    const value = texts[rows[0]!]!;
    const isOwn =
      value !== '' && rows.every((at) => texts[at] === value) && texts.filter((text) => text === value).length <= table.count / 2;
    return isOwn ? [`${plan.name} ${cellText(value, 60)}`] : [];
  });
  return common.length === 0 ? '' : `; all of them have ${listed(common)}`;
}

function emptyRows(table: ColumnsInMemory, plan: ColumnPlan): number[] {
  const texts = table.texts(plan);
  return [...texts.keys()].filter((at) => texts[at] === '');
}

/** Adds the rows with values above or below the requested limits to the columns of a profile. */
export function addBeyond(table: ColumnsInMemory, profile: TableProfile, bounds: Bounds): void {
  for (const plan of table.quantities()) {
    const column = profile.columns.find(({ name, numbers }) => name === plan.name && numbers !== undefined);
    const beyond = column === undefined ? null : beyondOf(table, plan, bounds);
    if (beyond !== null) column!.beyond = beyond;
  }
}

function beyondOf(table: ColumnsInMemory, plan: ColumnPlan, { above, below }: Bounds): Beyond | null {
  const numbers = table.numbers(plan);
  const untrue = untrueReadings(plan, table);
  const rows = (is: (value: number) => boolean) => [...numbers.keys()].filter((at) => is(numbers[at]!) && !untrue.has(at));
  const say = (found: number[]) => ({
    count: found.length,
    of: rows((value) => !Number.isNaN(value)).length,
    rows: found.slice(0, beyondNamed).map((at) => `${exact(clean(numbers[at]!))} in ${table.rowInWords(at)}`),
    groups: groupsOf(table, found),
    ...runsOf(table, found),
  });
  return {
    ...(above === undefined ? {} : { above: { limit: above, ...say(rows((value) => value > above)) } }),
    ...(below === undefined ? {} : { below: { limit: below, ...say(rows((value) => value < below)) } }),
  };
}

/** Additional requests for a profile. */
export type Bounds = {
  above?: number;
  below?: number;
  /** A row that is later than its planned time by more than this is told apart. */
  aboveMinutes?: number;
  ratio?: Ratio;
  months?: Months;
  scales?: readonly Scale[];
  period?: Period;
  promoters?: readonly string[];
};
/** `count` rows of `of` with a value; values off a scale are among them, repeated rows and failed readings are not. */
type Rows = { limit: number; count: number; of: number; rows: string[]; groups: string[]; runs?: string[] };
export type Beyond = { above?: Rows; below?: Rows };
const beyondNamed = 15;
const maxRuns = 5;

/** The rows that follow each other without a break, from date to date; none in a table that is not in order of time, or of several things. */
function runsOf(table: ColumnsInMemory, rows: readonly number[]): { runs?: string[] } {
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined || rows.length < 2) return {};
  const dates = table.dates(date);
  if (dates.some((ms, at) => at > 0 && !(ms >= dates[at - 1]!)) || date.values.distinct < table.count * 0.9) return {};
  const runs: { from: number; to: number }[] = [];
  for (const at of rows) {
    const last = runs.at(-1);
    if (last !== undefined && last.to === at - 1) last.to = at;
    else runs.push({ from: at, to: at });
  }
  const texts = table.texts(date);
  const each = runs.map(({ from, to }) =>
    from === to ? `${texts[from]} (1 row)` : `${texts[from]} to ${texts[to]} (${exact(to - from + 1)} rows without a break)`,
  );
  return runs.length > maxRuns || runs.length === rows.length ? {} : { runs: each };
}

/** "Outlet 3", by the first column with few values. */
function groupsOf(table: ColumnsInMemory, rows: number[]): string[] {
  const group = table.plans.find(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= 12 && values.distinct <= filled * 0.5,
  );
  if (group === undefined || rows.length < 2) return [];
  const counts = new Map<string, number>();
  for (const at of rows) {
    const text = cellText(table.texts(group)[at]!, 40);
    if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([value, count]) => `${value} ${count}`);
}
