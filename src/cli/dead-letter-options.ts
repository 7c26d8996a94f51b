/** The options of `troupe dead-letter`: parsed, checked and described. */
import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';

type Output = 'human' | 'json';
export type DeadLetterOptions =
  | { kind: 'list'; actorKind: string | null; limit: number; output: Output }
  | { kind: 'show'; id: string; payload: boolean; output: Output }
  | { kind: 'retry' | 'discard'; ids: string[]; output: Output }
  | { kind: 'log'; limit: number; output: Output };

export const deadLetterUsage = 'npm run troupe -- dead-letter list|log, show ID, retry ID …, discard ID …, or --help for all options';

export const deadLetterHelp = `Usage: npm run troupe -- dead-letter list [--kind KIND] [--limit N] [--json]
       npm run troupe -- dead-letter show ID [--payload] [--json]
       npm run troupe -- dead-letter retry ID … [--json]
       npm run troupe -- dead-letter discard ID … [--json]
       npm run troupe -- dead-letter log [--limit N] [--json]

A dead letter is a message, an outcome of an effect or a timer that failed three times in its actor, or an effect that ended
each of five processes that ran it. No other work waits for a dead letter.

list     newest first: id, time, type, actor and command, tries, size, error
  --kind KIND  only dead letters of this actor kind
  --limit N    at most this many (default 50, 1 to 1000)
show     one dead letter, without its payload
  --payload    also the payload: fields, ids and numbers; of other texts only the length
retry    delivers it again to its actor, which handles it exactly once, within about ten seconds if the service runs, else after the next
         start. If it fails again, it becomes a dead letter again. An effect cannot be retried: its actor got the outcome failed
discard  deletes it permanently
log      retries and discards, with time and operator; kept permanently

  --json       print the result as JSON

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Exit codes: 0 done, 1 refused (one of the ids is unknown; the others are done), 2 wrong usage, 4 database not reachable.`;

/** 'help' if help was requested. Throws `Failure` of kind usage. */
export function readDeadLetterOptions(args: string[]): DeadLetterOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const [name, ...ids] = positionals;
  const output = values.json ? 'json' : 'human';
  if (values.payload && name !== 'show') throw new Failure('usage', '--payload is an option of show');
  if (values.kind !== undefined && name !== 'list') throw new Failure('usage', '--kind is an option of list');
  if (values.limit !== undefined && name !== 'list' && name !== 'log') throw new Failure('usage', '--limit is an option of list and log');
  switch (name) {
    case 'list':
    case 'log':
      if (ids.length > 0) throw new Failure('usage', `${name} takes no ids: use show ID for one dead letter`);
      if (name === 'log') return { kind: 'log', limit: limitOf(values.limit), output };
      return { kind: 'list', actorKind: values.kind ?? null, limit: limitOf(values.limit), output };
    case 'show':
      if (ids.length !== 1) throw new Failure('usage', 'Give the id of one dead letter: show ID');
      return { kind: 'show', id: ids[0]!, payload: values.payload, output };
    case 'retry':
    case 'discard':
      if (ids.length === 0) throw new Failure('usage', `Give one or more ids: ${name} ID …`);
      return { kind: name, ids: [...new Set(ids)], output };
    default:
      throw new Failure('usage', 'Give a command: list, show, retry, discard or log');
  }
}

function limitOf(text = '50'): number {
  const limit = Number(text);
  if (!/^\d{1,4}$/.test(text) || limit < 1 || limit > 1_000) throw new Failure('usage', '--limit must be a whole number from 1 to 1000');
  return limit;
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const options = { kind: text, limit: text, payload: flag, json: flag, help: { ...flag, short: 'h' } } as const;
  return parsedOptions(() => parseArgs({ args, allowPositionals: true, options }));
}
