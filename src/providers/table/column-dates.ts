/** Reads cells as dates in the form of their column: the order of day and month, an offset from UTC, a count of seconds, eight digits. */
import { type Cell, isMissing } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { type DateOrder, type ParsedDate, parseDate } from './date-format.ts';
import { parseNumber } from './number-format.ts';

export type Order = { kind: DateOrder | 'mixed' | 'unknown'; because?: 'order' | 'style' | 'span' };

export function readInOrder(cell: Cell, { kind }: Order): ParsedDate | null {
  if (kind === 'day_first' || kind === 'month_first') return parseDate(cell, kind);
  const month = parseDate(cell, 'month_first');
  if (month?.ordered === true) return month;
  const day = parseDate(cell, 'day_first');
  if (month === null || day === null) return month ?? day;
  return month.ms === day.ms ? month : null;
}

export function inUtc(date: ParsedDate | null): ParsedDate | null {
  return date === null || !date.offset ? date : { ...date, ms: date.ms - date.offset * 60_000 };
}

export function readStamp(factor: number): (cell: Cell) => ParsedDate | null {
  return (cell) => {
    const parsed = isMissing(cell) ? null : parseNumber(cell, 'dot');
    return parsed === null ? null : { ms: parsed.value * factor, hasTime: true, ordered: true, form: 'timestamp', coarse: false };
  };
}

/** 20240305. */
export function readCompact(cell: Cell): ParsedDate | null {
  const text = typeof cell === 'string' ? cell.trim() : String(cell);
  if (text.length !== 8 || (text[0] !== '1' && text[0] !== '2')) return null;
  return parseDate(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`, 'month_first');
}

export function stampRange(read: (cell: Cell) => ParsedDate | null, min: number, max: number): ColumnPlan['range'] {
  return { firstMs: read(min)?.ms ?? 0, lastMs: read(max)?.ms ?? 0 };
}
