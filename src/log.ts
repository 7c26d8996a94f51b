/** Structured logs, one JSON line each, to standard output. Ids go in fields; secrets are masked (`log-secrets.ts`). */
import { format } from 'node:util';
import { pino } from 'pino';
import { isoTimestamp, machineClock } from './clock.ts';
import { createScrubber, errorFields } from './log-secrets.ts';

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
};

export type LogOptions = {
  /** Texts that are masked in every line, e.g. configured keys. */
  secrets?: readonly string[];
  /** Receives the lines. Default: standard output. */
  write?: (line: string) => void;
};

/** @param level `debug`, `info`, `warn`, `error` or `silent` */
export function createLog(level: string, base: object = {}, { secrets = [], write }: LogOptions = {}): Log {
  const options = {
    level,
    base,
    timestamp: () => `,"time":"${isoTimestamp(machineClock.nowMs())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => errorFields(error) },
    hooks: { streamWrite: createScrubber(secrets) },
  };
  return write === undefined ? pino(options) : pino(options, { write });
}

/** The result of `work`; if it rejects, logs a warning with `fields` and rethrows. */
export async function warned<T>(log: Log, fields: object, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (err) {
    log.warn({ ...fields, err }, message);
    throw err;
  }
}

const consoleMethods = ['debug', 'info', 'log', 'warn', 'error'] as const;
const maxConsoleChars = 2_000;

/**
 * What libraries print becomes warnings of this log. Printed as it is, it could contain secrets, and text of other servers with line breaks that
 * looks like lines of this log.
 */
export function logConsole(log: Log, target: Pick<Console, (typeof consoleMethods)[number]> = console): void {
  for (const method of consoleMethods)
    target[method] = (...args) => log.warn({ output: withoutQuoted(format(...args)) }, 'a library printed to the console');
}

/**
 * A library that puts its name first, such as `[mcp-sdk]`, quotes names that another server has sent, which may be a customer's secret or a megabyte.
 * Of such a text the part before the first quotation mark is logged.
 */
function withoutQuoted(printed: string): string {
  const text = printed.slice(0, maxConsoleChars);
  return libraryName.test(text) ? text.split(/['"`]/, 1)[0]! : text;
}
const libraryName = /^\[[\w-]{1,40}\] /;

export const noLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => noLog };
