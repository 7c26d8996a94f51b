/**
 * Classifies PostgreSQL errors: whether certainly nothing was written, and whether the contents or the database is the cause. The commit
 * path and the decision about dead letters use only this table.
 */

export type DatabaseFault =
  /** The contents can never be written: the same rows always fail. */
  | 'contents'
  /** Another session holds a lock, or the statement took too long: the contents are valid. */
  | 'blocked'
  /** The disk, the memory, the schema of another version, a temporary conflict: the contents are valid, and a later try may succeed. */
  | 'database';

/** True for an error that PostgreSQL reported itself: certainly nothing was written. False if the outcome is unknown. */
export function isSqlError(error: unknown): error is Error & { code: string } {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('E') || /^(08|57P0)/.test(code)) return false;
  // The server process ends after these. It may have ended after the commit, e.g. when the log could not be flushed.
  if (severity === 'FATAL' || severity === 'PANIC') return false;
  // Some servers translate the severity; only classes in which it matters must have the English word.
  return severity === undefined || severity === 'ERROR' || !/^(53|58|XX)/.test(code);
}

/** Null if the error is not from PostgreSQL: a lost connection, or an error of our own. */
export function databaseFault(error: unknown): DatabaseFault | null {
  if (!isSqlError(error)) return null;
  if (error.code === lockNotAvailable || error.code === queryCanceled) return 'blocked';
  return contents.has(error.code.slice(0, 2)) ? 'contents' : 'database';
}

/**
 * Whether the server cannot do this now for any caller: resources (53), its disk or another part of its machine (58), a standby (25006),
 * missing rights (42501). It also reports the last when a disk error has made the file system read-only.
 */
export function isServersFault({ code }: { code: string }): boolean {
  return /^5[38]/.test(code) || code === '25006' || code === '42501';
}

/**
 * Whether the database, or a pooler before it, refused or dropped a connection for a reason that passes by itself: it starts, stops or has
 * crashed, has no connection free, or the connection broke. Causes count too. Silence before the login, a closed port (ECONNREFUSED), a wrong
 * password and an unknown database are none of these: an address that is wrong looks the same.
 */
export function isPassingRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || error.message === connectTimeoutMessage) return false;
  const { code } = error as { code?: unknown };
  const isPassing = typeof code === 'string' ? passing.test(code) : withoutCode.test(error.message);
  return isPassing || isPassingRefusal(error.cause);
}

/** 57P01 admin_shutdown, 57P02 crash_shutdown, 57P03 cannot_connect_now, 53300 too_many_connections, class 08: all refusals of PgBouncer too. */
const passing = /^(57P0[123]|53300|08...|ECONNRESET|EPIPE)$/;
/**
 * What the driver says of a connection has no code. A query without an answer is silence after a login: a pooler accepts sessions although it does not
 * reach PostgreSQL.
 */
const withoutCode =
  /(Connection terminated unexpectedly|Client has encountered a connection error and is not queryable|Query read timeout)$/;
/** From the driver's pool, with the end of the connection as its cause. */
const connectTimeoutMessage = 'Connection terminated due to connection timeout';

export const lockNotAvailable = '55P03';
export const queryCanceled = '57014';
export const diskFull = '53100';

/** By the first two characters of SQLSTATE. All others (40, 42, 53, 55, 58, XX …) are not caused by a row. */
const contents = new Set([
  // Two rows with one key.
  '21',
  // A value that its column cannot hold.
  '22',
  // A constraint, including our own triggers.
  '23',
  // A trigger that changes rows the statement changes.
  '27',
  '44',
  // Larger or deeper than PostgreSQL allows, e.g. a row of an index.
  '54',
  // Raised without a specific code.
  'P0',
  // Raised by the commit statement: a row to be consumed does not exist.
  'TR',
]);
