/** Which rows a query counts, and into which groups they fall. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { asValue, listed } from '../figure-text.ts';
import { weekdays } from '../findings/weekday.ts';
import { foldSpelling, spellingsOf } from '../spellings.ts';
import type { Condition, DatePart, Key } from './query.ts';
import { planOf } from './row-values.ts';
import { isYesNo, yesOrNo } from './yes-no.ts';

/** `isTime`: the keys have an order of their own. '' is no group. */
export type Grouping = { name: string; keys: readonly string[]; isTime: boolean; of: ColumnPlan };

const dayMs = 86_400_000;
const months = 'January February March April May June July August September October November December'.split(' ');

/** Null if the table has no such column. */
export function groupingOf(table: ColumnsInMemory, { column, part, split }: Key): Grouping | null {
  const of = planOf(table, column);
  if (of === undefined) return null;
  if (part === undefined && split === undefined) {
    const texts = table.texts(of);
    const merges = isYesNo(texts);
    return { name: of.name, keys: merges ? texts.map((text) => yesOrNo(text) ?? '') : texts, isTime: false, of };
  }
  if (of.reads !== 'date' || of.dateDoubt) return null;
  const dates = table.dates(of);
  if (split !== undefined) {
    const at = Date.parse(split);
    const keys = Array.from(dates, (ms) => (Number.isNaN(ms) ? '' : ms < at ? `before ${split}` : `from ${split} on`));
    return { name: of.name, keys, isTime: true, of };
  }
  if (part === 'hour' && !of.timed) return null;
  const keys = Array.from(dates, (ms) => (Number.isNaN(ms) ? '' : partText(new Date(ms), part!)));
  return { name: `${part === 'week' ? 'calendar week' : part} (${of.name})`, keys, isTime: true, of };
}

/** Groups in their order of time: weekdays from Monday on, other parts by their texts. */
export function timeOrder(a: string, b: string): number {
  const [x, y] = [weekdays.indexOf(a), weekdays.indexOf(b)];
  if (x >= 0 && y >= 0) return ((x + 6) % 7) - ((y + 6) % 7);
  if (a.startsWith('before ') !== b.startsWith('before ')) return a.startsWith('before ') ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The rows that meet all conditions, and the conditions as text; null if the table has no such column. */
export function rowsWhere(table: ColumnsInMemory, conditions: readonly Condition[]): { rows: number[]; text: string } | null {
  let rows = [...table.rows.cells.keys()];
  const texts: string[] = [];
  for (const condition of conditions) {
    const of = planOf(table, condition.column);
    const test = of === undefined ? null : testOf(table, of, condition);
    if (test === null) return null;
    rows = rows.filter(test.meets);
    texts.push(test.text);
  }
  return { rows, text: texts.length === 0 ? '' : ` where ${listed(texts)}` };
}

function testOf(table: ColumnsInMemory, of: ColumnPlan, { is, is_not: isNot, from, before, weekdays: on, months: inMonths }: Condition) {
  if (is !== undefined || isNot !== undefined) {
    const texts = table.texts(of);
    const values = is ?? isNot!;
    const names = spellingsOf(of);
    const wanted = new Set(values.map((value) => foldSpelling(names.get(value) ?? value)));
    const has = (at: number) => wanted.has(foldSpelling(texts[at]!));
    if (!texts.some((_, at) => has(at))) return null;
    return {
      meets: (at: number) => has(at) === (is !== undefined),
      text: `${of.name} is ${is === undefined ? 'not ' : ''}${listed(values.map(asValue), 6)}`,
    };
  }
  if (of.reads !== 'date' || of.dateDoubt) return null;
  const dates = table.dates(of);
  const [first, end] = [from === undefined ? -Infinity : Date.parse(from), before === undefined ? Infinity : Date.parse(before)];
  const meets = (at: number) => {
    const ms = dates[at]!;
    if (Number.isNaN(ms) || ms < first || ms >= end) return false;
    const day = new Date(ms);
    return (on === undefined || on.includes(day.getUTCDay())) && (inMonths === undefined || inMonths.includes(day.getUTCMonth() + 1));
  };
  const parts = [
    ...(from === undefined ? [] : [`from ${from} on`]),
    ...(before === undefined ? [] : [`before ${before}`]),
    ...(on === undefined ? [] : [`a ${listed(on.map((day) => weekdays[day]!))}`]),
    ...(inMonths === undefined ? [] : [`in ${listed(inMonths.map((month) => months[month - 1]!))}`]),
  ];
  return { meets, text: `${of.name} is ${parts.join(' and ')}` };
}

function partText(date: Date, part: DatePart): string {
  const text = date.toISOString();
  if (part === 'weekday') return weekdays[date.getUTCDay()]!;
  if (part === 'day') return text.slice(0, 10);
  if (part === 'month') return text.slice(0, 7);
  if (part === 'year') return text.slice(0, 4);
  if (part === 'hour') return `${text.slice(11, 13)}:00`;
  if (part === 'quarter') return `${text.slice(0, 4)}-Q${Math.floor(date.getUTCMonth() / 3) + 1}`;
  return isoWeek(date);
}

/** 2026-W05: weeks begin on Monday, and belong to the year of their Thursday. */
function isoWeek(date: Date): string {
  const day = Math.floor(date.getTime() / dayMs);
  const thursday = new Date((day - ((date.getUTCDay() + 6) % 7) + 3) * dayMs);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / dayMs / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}
