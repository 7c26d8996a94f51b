/** Whether a text without a telling name is a table: rows of equal width, aligned columns, JSON lines, a list of records, an access log. */
import { alignedLayout } from './aligned-text.ts';
import { parseDate } from './date-format.ts';
import { detectDialect, sampleWidths } from './dialect.ts';
import { parseNumber } from './number-format.ts';
import { webLogColumns } from './web-log.ts';

const sampleChars = 32_000;
const minRows = 3;
const sampleLines = 50;

/** @param text the beginning of the file */
export function looksLikeTable(text: string): boolean {
  const sample = text.slice(0, sampleChars).replace(/^\ufeff/, '');
  if (isStampedLog(sample)) return false;
  return (
    isJson(sample) || webLogColumns(sample) !== null || hasEvenRows(sample, text.length > sampleChars) || alignedLayout(sample) !== null
  );
}

/** "2025-10-03 08:00:01,112 INFO …": the comma before the milliseconds divides no columns. */
function isStampedLog(sample: string): boolean {
  const lines = sample.split('\n', sampleLines).filter((line) => line.trim() !== '');
  const stamped = lines.filter((line) => /^[[(]?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2},\d{3}[\])]? /.test(line.slice(0, 40)));
  return lines.length >= minRows && stamped.length >= lines.length * 0.8;
}

function isJson(sample: string): boolean {
  const start = sample.trimStart();
  if (start[0] === '[') return isRecordStart(start.slice(1).trimStart()[0]);
  if (start[0] !== '{') return false;
  const lines = start.split('\n', minRows + 1).filter((line) => line.trim() !== '');
  const whole = lines.slice(0, Math.max(1, lines.length - 1));
  return whole.every((line) => parses(line)) || parses(sample) || /^\{\s{0,20}"/.test(start);
}

function isRecordStart(char: string | undefined): boolean {
  return char === '{' || char === '[';
}

/** Prose has commas too, but not the same number in each line, and no column of numbers or dates. */
export function hasEvenRows(sample: string, cut: boolean): boolean {
  const { delimiter, skippedRows } = detectDialect(sample);
  const rows = sampleWidths(sample, delimiter).slice(skippedRows);
  if (cut) rows.pop();
  if (rows.length < minRows) return false;
  const width = rows[Math.min(1, rows.length - 1)]!.length;
  if (width < 2) return false;
  const even = rows.filter((row) => row.length === width).length;
  if (even < rows.length * 0.9) return false;
  if (rows.some((row) => row.some((cell) => cell.length > 2000))) return false;
  const valued = rows[1]!.some((_, at) => rows.slice(1).filter((row) => isValue(row[at] ?? '')).length >= (rows.length - 1) * 0.8);
  return valued || (delimiter !== ',' && rows.length >= 4) || (width >= 3 && rows.length >= 5);
}

function isValue(cell: string): boolean {
  return (
    parseNumber(cell, 'dot') !== null ||
    parseNumber(cell, 'comma') !== null ||
    parseDate(cell, 'day_first') !== null ||
    parseDate(cell, 'month_first') !== null
  );
}

function parses(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
