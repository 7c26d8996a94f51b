/** The options of `troupe cluster`: parsed, checked and described. No cluster query here. */
import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { oneLine } from './plain-text.ts';

export type ClusterOptions =
  | { kind: 'status'; output: 'human' | 'json'; watch: boolean }
  | { kind: 'drain'; node: string; wait: boolean; timeoutMs: number };

export const clusterUsage = 'npm run troupe -- cluster status [--json] [--watch], cluster drain NODE, or --help for all options';

export const clusterHelp = `Usage: npm run troupe -- cluster status [--json] [--watch]
       npm run troupe -- cluster drain NODE [--no-wait] [--timeout SECONDS]

status shows the nodes, the shards of each, shards to move, waiting work and commit rates.
  --json             print it as JSON: {nodes, shards: [{shard, owner, epoch}], view, redis, moves, lag, rates}
  --watch            refresh every second until Ctrl-C; with --json one line each time

drain requests a node to leave: the node accepts no new requests, hands its shards to other nodes, finishes its requests and ends. No request fails.
  --no-wait          do not wait until the node has left
  --timeout SECONDS  wait this long at most (default 120)

Finds the service by DATABASE_URL and REDIS_URL, or by DATA_DIR, whether it runs or not. No node is called.
If Redis does not answer, status shows the data in PostgreSQL and says so.

Exit codes: 0 done, 1 refused or not in time, 2 wrong usage, 4 database or Redis not reachable.
`;

/** 'help' if help was requested. Throws `Failure` of kind usage. */
export function readClusterOptions([name, ...args]: string[]): ClusterOptions | 'help' {
  if (name === '--help' || name === '-h' || args.includes('--help') || args.includes('-h')) return 'help';
  if (name === 'status') return readStatus(args);
  if (name === 'drain') return readDrain(args);
  throw new Failure(
    'usage',
    name === undefined ? 'Give a command: status or drain' : `There is no command cluster ${oneLine(name, 40)}: use status or drain`,
  );
}

function readStatus(args: string[]): ClusterOptions {
  const { values } = parsedOptions(() => parseArgs({ args, options: { json: { type: 'boolean' }, watch: { type: 'boolean' } } }));
  return { kind: 'status', output: values.json ? 'json' : 'human', watch: values.watch ?? false };
}

function readDrain(args: string[]): ClusterOptions {
  const { values, positionals } = parsedOptions(() =>
    parseArgs({ args, options: { 'no-wait': { type: 'boolean' }, timeout: { type: 'string' } }, allowPositionals: true }),
  );
  const [node] = positionals;
  if (node === undefined || positionals.length > 1) throw new Failure('usage', 'Give the name of one node, as shown by `cluster status`');
  const timeout = values.timeout ?? '120';
  if (!/^\d{1,5}$/.test(timeout) || Number(timeout) === 0)
    throw new Failure('usage', '--timeout must be a whole number of seconds from 1 to 99999');
  return { kind: 'drain', node, wait: !values['no-wait'], timeoutMs: Number(timeout) * 1_000 };
}
