/** The options of `troupe left-work`: parsed, checked and described. */
import { parseArgs } from 'node:util';
import type { WorkName } from '../storage/waiting-work.ts';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';

export type LeftWorkOptions =
  | { kind: 'list'; minutes: number; output: 'human' | 'json' }
  | { kind: 'put-aside'; of: WorkName; minutes: number; limit: number; output: 'human' | 'json' };

export const leftWorkUsage = 'npm run troupe -- left-work list, put-aside message|timer KIND/COMMAND, or --help for all options';

export const leftWorkHelp = `Usage: npm run troupe -- left-work list [--minutes N] [--json]
       npm run troupe -- left-work put-aside message|timer KIND/COMMAND [--minutes N] [--limit N] [--json]

Left work is durable work that a newer version has recorded and the running nodes do not know. It waits in its table, and later messages from the
same sender to the same actor wait behind it. The nodes log the names: "this version does not know this durable work …".

list       all durable work that has waited for a long time, by table, kind and command, for any reason
put-aside  turns each row of that name into a dead letter, for dead-letter show, retry and discard; work that waited behind it continues
           within a minute. Effects cannot be put aside, because their actors wait for an outcome

  --minutes N  minimum waiting time (default 10, 1 to 100000); for a timer, since its due time
  --limit N    put aside at most this many rows, the oldest first (default 1000, 1 to 10000)
  --json       print the result as JSON

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Exit codes: 0 done, 1 refused (no work of that name), 2 wrong usage, 4 database not reachable.`;

/** 'help' if help was requested. Throws `Failure` of kind usage. */
export function readLeftWorkOptions(args: string[]): LeftWorkOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const [name, ...what] = positionals;
  const output = values.json ? 'json' : 'human';
  const minutes = wholeNumber('minutes', values.minutes ?? '10', 100_000);
  if (values.limit !== undefined && name !== 'put-aside') throw new Failure('usage', '--limit is an option of put-aside');
  if (name === 'list') {
    if (what.length > 0) throw new Failure('usage', 'list takes no names');
    return { kind: 'list', minutes, output };
  }
  if (name !== 'put-aside') throw new Failure('usage', 'Give a command: list or put-aside');
  return { kind: 'put-aside', of: workName(what), minutes, limit: wholeNumber('limit', values.limit ?? '1000', 10_000), output };
}

function workName([place, full, ...more]: string[]): WorkName {
  if (place === 'effect') throw new Failure('usage', 'An effect cannot be put aside: its actor waits for its outcome');
  const [kind, command] = full?.split('/') ?? [];
  if ((place !== 'message' && place !== 'timer') || !kind || !command || more.length > 0)
    throw new Failure('usage', 'Give the work as list shows it: put-aside message KIND/COMMAND, or put-aside timer KIND/COMMAND');
  return { place, kind, command };
}

function wholeNumber(option: string, text: string, largest: number): number {
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text) || value < 1 || value > largest)
    throw new Failure('usage', `--${option} must be a whole number from 1 to ${largest}`);
  return value;
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  return parsedOptions(() =>
    parseArgs({ args, allowPositionals: true, options: { minutes: text, limit: text, json: flag, help: { ...flag, short: 'h' } } }),
  );
}
