/** Facts of a log: lines by level, first and last entries and errors, and repeated messages. */
import { collapseWhitespace } from '../prompt-tokens.ts';

export type LogLine = { line: number; time: string; message: string };
export type LogFacts = {
  entries: number;
  levels: [string, number][];
  first: LogLine;
  last: LogLine;
  firstError: LogLine | null;
  lastError: LogLine | null;
  errors: number;
  /** The last warnings before the first error, and the first entries after the last one with the number of all. */
  warnedBefore: LogLine[];
  after: { first: LogLine[]; count: number };
  /** Errors by their named source, and by hour; most first. */
  errorSources: [string, number][];
  errorHours: [string, number][];
  /** Errors in a row without any other entry between them, if there are three or more. */
  burst: { from: LogLine; to: LogLine; count: number } | null;
  /** Messages with their figures masked, most frequent first. */
  repeated: { message: string; count: number; first: number; last: number; figures: { min: number; max: number; line: number } | null }[];
  statuses: [string, number][];
  /** Entries by their named source, if there are several. */
  sources: [string, number][];
  /** The longest time without an entry, if it is far longer than usual. */
  silence: { from: LogLine; to: LogLine; minutes: number } | null;
};

const stamp =
  /^[[(]?(?:\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?|\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?|\w{3} [ \d]\d \d{2}:\d{2}:\d{2}|\d{1,2}\/\w{3}\/\d{4}:\d{2}:\d{2}:\d{2}(?: [+-]\d{4})?)[\])]?/;
const accessStamp = /\[(\d{1,2}\/\w{3}\/\d{4}:\d{2}:\d{2}:\d{2}(?: [+-]\d{4})?)\]/;
const levelWord = /(?<![\w-])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|ALERT|EMERG|SEVERE)(?![\w-])/;
const lowLevelWord = /(?:level=|\[|"level":\s?"|^\s?)(trace|debug|info|notice|warn|warning|error|critical|fatal)(?:[\]"\s:]|$)/i;
const errorLevels = new Set(['ERROR', 'CRITICAL', 'FATAL', 'ALERT', 'EMERG', 'SEVERE']);
const maxKept = 5000;
const shownBeside = 3;

/** Null if fewer than half of the lines have the form of a log. */
export function readLog(text: string): LogFacts | null {
  const lines = text.split('\n');
  const filled = lines.filter((line) => line.trim() !== '').length;
  const entries: (LogLine & { level: string; status: string })[] = [];
  for (let i = 0; i < lines.length; i++) {
    const head = lines[i]!.slice(0, 400).trim();
    const found = stamp.exec(head)?.[0] ?? accessStamp.exec(head)?.[1];
    if (found === undefined) continue;
    const level = (levelWord.exec(head.slice(0, 120))?.[1] ?? lowLevelWord.exec(head.slice(found.length, 120))?.[1] ?? '').toUpperCase();
    const status = /" ([1-5]\d{2})(?: |$)/.exec(head)?.[1] ?? '';
    entries.push({
      line: i + 1,
      time: found.replace(/[[\]()]/g, ''),
      message: collapseWhitespace(head),
      level: aliases[level] ?? level,
      status,
    });
  }
  const withLevel = entries.filter(({ level, status }) => level !== '' || status !== '').length;
  if (entries.length < 3 || entries.length < filled * 0.5 || withLevel < entries.length * 0.3) return null;
  const errors = entries.filter(({ level, status }) => errorLevels.has(level) || status.startsWith('5'));
  const [firstAt, lastAt] = [errors.length === 0 ? 0 : entries.indexOf(errors[0]!), entries.indexOf(errors.at(-1)!)];
  const rest = errors.length === 0 ? [] : entries.slice(lastAt + 1);
  return {
    entries: entries.length,
    levels: counted(entries.map(({ level }) => level)),
    statuses: counted(entries.map(({ status }) => status)),
    first: entries[0]!,
    last: entries.at(-1)!,
    errors: errors.length,
    warnedBefore: entries
      .slice(0, firstAt)
      .filter(({ level }) => level === 'WARN')
      .slice(-shownBeside),
    after: { first: rest.slice(0, shownBeside), count: rest.length },
    // "http-3" and "http-7" are workers of one source.
    errorSources: counted(errors.map((entry) => sourceOf(entry).replace(/-\d{1,4}$/, ''))),
    errorHours: counted(errors.map(({ time }) => /^.{0,20}?\d{2}(?=:\d{2})/.exec(time)?.[0] ?? '')),
    burst: longestBurst(entries, new Set(errors)),
    firstError: errors[0] ?? null,
    lastError: errors.at(-1) ?? null,
    repeated: repeatedMessages(entries),
    sources: counted(entries.map((entry) => sourceOf(entry).replace(/-\d{1,4}$/, ''))),
    silence: longestSilence(entries),
  };
}

const aliases: Readonly<Record<string, string>> = { WARNING: 'WARN', ERR: 'ERROR', CRIT: 'CRITICAL' };

/** "[billing]" or "db:" after time and level; '' if there is none. */
function sourceOf({ message }: LogLine): string {
  const rest = message
    .replace(stamp, '')
    .trim()
    .replace(/^[[(]?[A-Za-z]{3,8}[\])]?[ :]{1,4}(?=\S)/, '')
    .slice(0, 60);
  return /^\[([\w./-]{2,40})\]/.exec(rest)?.[1] ?? /^([A-Za-z][\w./-]{1,39})(?=:| - )/.exec(rest)?.[1] ?? '';
}

function longestBurst(entries: readonly LogLine[], errors: ReadonlySet<LogLine>): LogFacts['burst'] {
  let best: LogFacts['burst'] = null;
  let from = -1;
  for (let i = 0; i <= entries.length; i++) {
    if (i < entries.length && errors.has(entries[i]!)) {
      if (from === -1) from = i;
      continue;
    }
    if (from !== -1 && i - from >= 3 && (best === null || i - from > best.count))
      best = { from: entries[from]!, to: entries[i - 1]!, count: i - from };
    from = -1;
  }
  return best;
}

/** Ten times the median time between entries, and at least five minutes. */
function longestSilence(entries: readonly LogLine[]): LogFacts['silence'] {
  const times = entries.map(({ time }) => Date.parse(`${time.slice(0, 10)}T${time.slice(11, 19)}Z`));
  if (times.some((time) => Number.isNaN(time)) || times.length < 10) return null;
  const steps = times.slice(1).map((time, i) => time - times[i]!);
  const usual = steps.toSorted((a, b) => a - b)[steps.length >> 1]!;
  const most = Math.max(...steps);
  const at = steps.indexOf(most);
  if (most < 300_000 || most < usual * 10) return null;
  return { from: entries[at]!, to: entries[at + 1]!, minutes: most / 60_000 };
}

function counted(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function repeatedMessages(entries: readonly LogLine[]): LogFacts['repeated'] {
  const seen = new Map<string, LogFacts['repeated'][number]>();
  for (const { message, line } of entries) {
    const plain = message.replace(stamp, '').replace(accessStamp, '').trim();
    const masked = mask(plain);
    const figure = Number(/(\d{1,9}(?:\.\d{1,6})?) ?(?:ms|s|sec|seconds|MB|KB|kB|GB|%|bytes)(?![\p{L}\d])/u.exec(plain)?.[1] ?? Number.NaN);
    const known = seen.get(masked);
    if (known !== undefined) {
      known.count++;
      known.last = line;
      if (known.figures !== null && figure < known.figures.min) known.figures.min = figure;
      if (known.figures !== null && figure > known.figures.max) Object.assign(known.figures, { max: figure, line });
    } else if (seen.size < maxKept) {
      const figures = Number.isNaN(figure) ? null : { min: figure, max: figure, line };
      seen.set(masked, { message: masked, count: 1, first: line, last: line, figures });
    }
  }
  return [...seen.values()]
    .filter(({ count }) => count > 1)
    .toSorted((a, b) => b.count - a.count || a.first - b.first)
    .slice(0, 8);
}

/** Figures and ids differ between lines; the message is the same. */
function mask(message: string): string {
  return message
    .replace(/(?<![\p{L}\p{N}])(?:0x)?[0-9a-f]{8,}(?:-[0-9a-f]{4,12}){0,4}(?![\p{L}\p{N}])/giu, '#')
    .replace(/\d{1,30}(?:[.:]\d{1,30}){0,5}/g, '#');
}
