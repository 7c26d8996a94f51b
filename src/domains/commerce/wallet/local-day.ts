/** The local date in a time zone: the unit of day and month sums. */

/**
 * The local date, e.g. `2026-11-21`. Days have 23 to 25 hours when clocks change, and some places have skipped one.
 *
 * @param timezone an IANA name; throws `RangeError` for another
 */
export function localDay(atMs: number, timezone: string): string {
  const parts: Partial<Record<string, string>> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(atMs)) parts[type] = value;
  return `${parts.year!.padStart(4, '0')}-${parts.month}-${parts.day}`;
}

/** The month of a local date, or of a text that begins with one. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** Making a format takes far longer than using it. Time zone names can be written in many ways, so the cache is bounded. */
const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 1_000;

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    if (formats.size >= maxFormats) formats.clear();
    const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    format = new Intl.DateTimeFormat('en', { timeZone: timezone, calendar: 'gregory', numberingSystem: 'latn', ...fields });
    formats.set(timezone, format);
  }
  return format;
}
