/** What a number in a cell means by its format: dates and percentages are stored as plain numbers. */

/** `plain` also stands for currencies and everything else that is shown as the number itself. */
export type NumberForm = 'plain' | 'date' | 'time' | 'date_time' | 'duration' | 'percent';

const builtIn = new Map<number, NumberForm>([
  [9, 'percent'],
  [10, 'percent'],
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id): [number, NumberForm] => [id, 'date']),
  ...[18, 19, 20, 21, 32, 33, 34, 35].map((id): [number, NumberForm] => [id, 'time']),
  [22, 'date_time'],
  [45, 'time'],
  [46, 'duration'],
  [47, 'time'],
]);
const dayMs = 86_400_000;
/** Day 0 of the 1900 system, for days from March 1900 on: that system has a 29 February 1900. */
const day0Ms = Date.UTC(1899, 11, 30);
const days1904 = 1462;
const lastDay = 2_958_465;
const maxCodeChars = 255;

/** @param code of a format of the workbook's own; undefined for a built-in one */
export function numberForm(id: number, code: string | undefined): NumberForm {
  if (code === undefined) return builtIn.get(id) ?? 'plain';
  // Texts in quotes, colours and locales in brackets, and escaped characters are no letters of a date.
  const letters = code
    .slice(0, maxCodeChars)
    .split(';', 1)[0]!
    .replace(/"[^"]{0,255}"/g, '')
    .replace(/\\.|_.|\*./g, '')
    .toLowerCase();
  if (/\[(?:h{1,2}|m{1,2}|s{1,2})\]/.test(letters)) return 'duration';
  const bare = letters.replace(/\[[^\]]{0,64}\]/g, '').replace('general', '');
  if (bare.includes('%')) return 'percent';
  const hasDay = /[yd]|mmm/.test(bare) || (/m/.test(bare) && !/[hs]/.test(bare));
  const hasTime = /[hs]/.test(bare);
  if (/[#0?]/.test(bare.replace(/s[.,]0+/g, 's'))) return 'plain';
  return hasDay ? (hasTime ? 'date_time' : 'date') : hasTime ? 'time' : 'plain';
}

/** The number as a person sees it: 2025-01-31, 14:30, 25%. */
export function shownNumber(value: number, form: NumberForm, is1904: boolean): string | number {
  if (form === 'plain') return value;
  if (form === 'percent') return `${Number((value * 100).toPrecision(15))}%`;
  if (form === 'duration') return clock(value);
  const days = is1904 ? value + days1904 : value;
  if (value < 0 || days > lastDay) return value;
  if (form === 'time' && value < 1) return clock(value);
  // Before March 1900 the system is a day off.
  const text = new Date(Math.round((day0Ms + (days < 61 && !is1904 ? days + 1 : days) * dayMs) / 1000) * 1000).toISOString();
  return form === 'date' || text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

function clock(days: number): string | number {
  if (days < 0) return days;
  const seconds = Math.round(days * 86_400);
  const two = (part: number) => String(part).padStart(2, '0');
  const rest = seconds % 60;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}${rest === 0 ? '' : `:${two(rest)}`}`;
}
