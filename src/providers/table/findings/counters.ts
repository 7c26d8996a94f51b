/** Counters by key: the difference from the first to the last reading, readings that cannot be, and keys without a reading on a common day. */
import type { ColumnPlan } from '../column-evidence.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { type Counter, counterOf } from '../counters.ts';
import { countOf, exact } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const keysShown = 40;
const shown = 10;
/** A step is far above the usual ones of its key by this factor. */
const farStep = 15;
const nextSteps = 4;
const minCommonDay = 0.7;
const factors = [10, 100, 1000];

export function counterFindings(table: ColumnsInMemory): Finding[] {
  return table.plans
    .filter(({ role }) => role === 'counter')
    .flatMap((plan) => {
      const counter = counterOf(table, plan);
      return counter === null ? [] : tell(table, plan, counter);
    });
}

type Wrong = { at: number; text: string };

function tell(table: ColumnsInMemory, plan: ColumnPlan, counter: Counter): Finding[] {
  const { date, key, series } = counter;
  const numbers = table.numbers(plan);
  const wrong = [...series].flatMap(([name, rows]) => wrongReadings(table, plan, counter, name, rows));
  const isWrong = new Set(wrong.map(({ at }) => at));
  const dayOf = (at: number) => new Date(table.dates(date)[at]!).toISOString().slice(0, 10);
  const used = [...series].flatMap(([name, all]) => {
    const rows = all.filter((at) => !isWrong.has(at));
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    return [{ name, first, last, used: clean(numbers[last]! - numbers[first]!) }];
  });
  if (used.length === 0) return [];
  const [from, to] = [mostOften(used.map(({ first }) => dayOf(first))), mostOften(used.map(({ last }) => dayOf(last)))];
  const each = used.map(({ name, first, last, used: own }) => {
    const isWhole = dayOf(first) === from && dayOf(last) === to;
    return `${name} ${exact(own)}${isWhole ? '' : ` (${dayOf(first)} to ${dayOf(last)})`}`;
  });
  const more = each.length > keysShown ? ` and ${exact(each.length - keysShown)} more` : '';
  const ranked = used.toSorted((a, b) => b.used - a.used);
  const total = exact(clean(used.reduce((sum, { used: own }) => sum + own, 0)));
  return [
    {
      kind: 'counter',
      text: `${plan.name} is a counter of each ${key.name}, so its readings are compared and not added up or averaged. From ${from} to ${to}, where nothing else is said, the differences are: ${each.slice(0, keysShown).join(', ')}${more}; together ${total}. The largest is that of ${ranked[0]!.name} (${exact(ranked[0]!.used)}), the smallest that of ${ranked.at(-1)!.name} (${exact(ranked.at(-1)!.used)}).${wrong.length === 0 ? '' : ` Left out: ${countOf(wrong.length, 'reading')} that cannot be.`}`,
    },
    ...(wrong.length === 0
      ? []
      : [{ kind: 'counter_falls', text: `Readings of ${plan.name} that cannot be: ${some(wrong.map(({ text }) => text))}.` }]),
    ...missing(plan, counter, dayOf),
  ];
}

/** Readings below the one before, or far above it and above the one behind. */
function wrongReadings(table: ColumnsInMemory, plan: ColumnPlan, { date, key }: Counter, name: string, rows: readonly number[]): Wrong[] {
  const numbers = table.numbers(plan);
  const value = (i: number) => (i < 0 || i >= rows.length ? Number.NaN : numbers[rows[i]!]!);
  const steps = rows.slice(1).map((_, i) => value(i + 1) - value(i));
  const rising = steps.filter((step) => step > 0).toSorted((a, b) => a - b);
  const usual = rising[(rising.length - 1) >> 1] ?? Number.NaN;
  const found: Wrong[] = [];
  for (const i of rows.keys()) {
    const [before, own, behind] = [value(i - 1), value(i), value(i + 1)];
    const isLow = own < before && !(behind < before) && !(own >= value(i - 2) && before - own > Math.abs(behind - own));
    const isHigh = own > behind && (Number.isNaN(before) || behind >= before) && !isLow;
    const isFar = Number.isNaN(behind) && own - before > farStep * usual && rows.length > 3;
    if (!isLow && !isHigh && !isFar) continue;
    const at = rows[i]!;
    const upper = Number.isNaN(behind) ? before + nextSteps * usual : behind;
    const likely = likelyValue(own, before, upper);
    const beside = [
      ...(Number.isNaN(before) ? [] : [`${exact(before)} before it`]),
      ...(Number.isNaN(behind) ? [] : [`${exact(behind)} after it`]),
    ].join(' and ');
    found.push({
      at,
      text: `${exact(own)} of ${key.name} ${name} in row ${table.row(at)} (${table.texts(date)[at]}), with ${beside}${likely === null ? '' : `; probably ${exact(likely)}`}`,
    });
  }
  return found;
}

/** The only value between the two that has the same digits: two of them swapped, or a decimal mark or a zero out of place. */
function likelyValue(value: number, lower: number, upper: number): number | null {
  const digits = String(value);
  const swapped = [...digits].flatMap((digit, i) => {
    const next = digits[i + 1];
    return next === undefined || next === digit || (i === 0 && next === '0')
      ? []
      : [Number(digits.slice(0, i) + next + digit + digits.slice(i + 2))];
  });
  const scaled = factors.flatMap((factor) => [Math.floor(value / factor), value * factor]);
  const fitting = [...new Set([...swapped, ...scaled])].filter((each) => each >= lower && each <= upper);
  return fitting.length === 1 ? fitting[0]! : null;
}

/** Keys without a reading on a day on which most keys have one. */
function missing(plan: ColumnPlan, { date, key, series }: Counter, dayOf: (at: number) => string): Finding[] {
  const days = [...series].map(([name, rows]) => ({ name, days: new Set(rows.map(dayOf)) }));
  const counts = new Map<string, number>();
  for (const { days: own } of days) for (const day of own) counts.set(day, (counts.get(day) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count >= days.length * minCommonDay).map(([day]) => day);
  const each = days.flatMap(({ name, days: own }) => {
    const lacking = common.filter((day) => !own.has(day)).sort();
    return lacking.length === 0 || lacking.length === common.length ? [] : [`${name} ${lacking.slice(0, shown).join(', ')}`];
  });
  if (common.length < 2 || each.length === 0 || each.length > days.length / 2) return [];
  return [{ kind: 'missing_rows', text: `No ${plan.name} on a common ${date.name} for ${key.name} ${some(each)}.` }];
}

function mostOften(days: readonly string[]): string {
  const counts = [...Map.groupBy(days, (day) => day)].toSorted((a, b) => b[1].length - a[1].length);
  return counts[0]![0];
}

function some(items: readonly string[]): string {
  return items.length > shown ? `${items.slice(0, shown).join('; ')} and ${exact(items.length - shown)} more` : items.join('; ');
}
