/** Structured logs, one JSON line each, to standard output. Ids go in fields; secrets go nowhere: known field names are redacted. */
import { pino } from 'pino';

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
};

const secretFields = [
  'password',
  'token',
  'access_token',
  'refresh_token',
  'secret',
  'api_key',
  'apiKey',
  'authorization',
  'key',
  'cookie',
];

/** @param level `debug`, `info`, `warn`, `error` or `silent` */
export function createLog(level: string, base: object = {}): Log {
  return pino({
    level,
    base,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: [...secretFields, ...secretFields.map((field) => `*.${field}`)], censor: '[secret]' },
  });
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };
