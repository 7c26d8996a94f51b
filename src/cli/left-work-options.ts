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

Durable work that no node takes: what a newer version has recorded and the nodes that run do not know. It waits in its table, and with it what the
same sender has sent to the same actor since. Which names the nodes do not know is in their logs, "durable work that this version does not know …".

list       all that has waited for long, by table, kind and command, whatever the reason
put-aside  makes a dead letter of each row of that name: nothing waits for it any more, what waited behind it goes on within a minute, and
           dead-letter show, retry and discard decide about it. Effects cannot be put aside, as their actors wait for an outcome

  --minutes N  what has waited for so long (default 10, 1 to 100000); of a timer, since when it is due
  --limit N    put aside so many rows at most, the oldest first (default 1000, 1 to 10000)
  --json       print the outcome as JSON

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Ends with 0 done, 1 refused (there is nothing of that name), 2 wrong use, 4 database out of reach.`;

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
  if (name !== 'put-aside') throw new Failure('usage', 'Say what to do: list or put-aside');
  return { kind: 'put-aside', of: workName(what), minutes, limit: wholeNumber('limit', values.limit ?? '1000', 10_000), output };
}

function workName([place, full, ...more]: string[]): WorkName {
  if (place === 'effect') throw new Failure('usage', 'An effect cannot be put aside: its actor waits for its outcome');
  const [kind, command] = full?.split('/') ?? [];
  if ((place !== 'message' && place !== 'timer') || !kind || !command || more.length > 0)
    throw new Failure('usage', 'Say which, as list shows it: put-aside message KIND/COMMAND, or put-aside timer KIND/COMMAND');
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
