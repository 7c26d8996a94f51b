/** `troupe left-work`: durable work that no node takes, listed by name, and moved to the dead letters. */
import type { Config } from '../config.ts';
import type { Database } from '../storage/database.ts';
import { listWaitingWork, moveToDeadLetters, type WaitingWork } from '../storage/waiting-work.ts';
import { exitCodes, Failure } from './failure.ts';
import { withDatabase } from './find-database.ts';
import { type LeftWorkOptions, leftWorkHelp, readLeftWorkOptions } from './left-work-options.ts';
import { operatorName } from './operator.ts';
import { oneLine } from './plain-text.ts';

/** The exit code; throws `Failure`. */
export async function leftWork(args: string[], config: Config): Promise<number> {
  const options = readLeftWorkOptions(args);
  const text = options === 'help' ? leftWorkHelp : await withDatabase(config, (database) => carryOut(database, options));
  process.stdout.write(`${text}\n`);
  return exitCodes.complete;
}

async function carryOut(database: Database, options: LeftWorkOptions): Promise<string> {
  const { minutes, output } = options;
  if (options.kind === 'list') {
    const found = await listWaitingWork(database, minutes);
    if (output === 'json')
      return JSON.stringify({ waiting: found.map(({ oldestS, ...one }) => ({ ...one, oldest_s: Math.round(oldestS) })) });
    return found.map(workLine).join('\n') || `No work has waited for ${minutes} minutes`;
  }
  const { place, kind, command } = options.of;
  const name = `${place} ${oneLine(`${kind}/${command}`, 120)}`;
  const count = await moveToDeadLetters(database, options.of, minutes, operatorName(), options.limit);
  if (count === 0) throw new Failure('refused', `No ${name} has waited for ${minutes} minutes: see left-work list`);
  if (output === 'json') return JSON.stringify({ put_aside: count });
  return `${count} of ${name} ${count === 1 ? 'is a dead letter' : 'are dead letters'} now: see dead-letter list --kind ${oneLine(kind, 60)}`;
}

function workLine({ place, kind, name, rows, oldestS }: WaitingWork): string {
  return `${place.padEnd(7)}  ${oneLine(`${kind}/${name}`, 120)}  ${rows} row${rows === 1 ? '' : 's'}, the oldest for ${Math.round(oldestS / 60)} minutes`;
}
