/**
 * `npm run bench [-- actors|commit|http|stream|replay|sockets|remote|memory|start|placement|cluster|failover|rolling|join|overload|limits|webhooks|cards|trading|mcp|deploy|browser …] [--seconds N] [--times N] [--json]
 * [--profile]`: what the product is fast at, each beside the limit of a minimal program measured in the same run. Without a name all of them run. Everything stays on this machine.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchActors } from './actors.ts';
import { benchBrowser } from './browser.ts';
import { benchCards } from './cards.ts';
import { benchCluster } from './cluster.ts';
import { benchCommit } from './commit.ts';
import { benchDeploy } from './deploy.ts';
import { benchFailover } from './failover.ts';
import { benchHttp } from './http.ts';
import { benchJoin } from './join.ts';
import { benchMcp } from './mcp.ts';
import { benchMemory } from './memory.ts';
import { benchOverload } from './overload.ts';
import { benchPlacement } from './placement.ts';
import { benchRate } from './rate.ts';
import { benchRemote } from './remote.ts';
import { benchReplay } from './replay.ts';
import { benchRolling } from './rolling.ts';
import { benchSockets } from './sockets.ts';
import { benchStart } from './start.ts';
import { benchStream } from './stream.ts';
import { jsonLine, type Row, textLine } from './support/row.ts';
import { Surroundings } from './support/surroundings.ts';
import { benchTrading } from './trading.ts';
import { benchWebhooks } from './webhooks.ts';

const benches: Record<string, (surroundings: Surroundings) => Promise<Row[]>> = {
  actors: benchActors,
  commit: benchCommit,
  http: benchHttp,
  stream: benchStream,
  replay: benchReplay,
  sockets: benchSockets,
  remote: benchRemote,
  memory: benchMemory,
  start: benchStart,
  placement: benchPlacement,
  cluster: benchCluster,
  failover: benchFailover,
  rolling: benchRolling,
  join: benchJoin,
  overload: benchOverload,
  limits: benchRate,
  webhooks: benchWebhooks,
  cards: benchCards,
  trading: benchTrading,
  mcp: benchMcp,
  deploy: benchDeploy,
  browser: benchBrowser,
};
const usage = `Usage: npm run bench -- [${Object.keys(benches).join('|')} …] [--seconds 1 to 600] [--times 1 to 1000] [--json] [--profile]`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const asked = readArguments(args);
  if (asked === null) {
    console.error(usage);
    return 2;
  }
  const { names, seconds, times, json, profile } = asked;
  const profileFolder = profile ? await mkdtemp(join(tmpdir(), 'troupe-profiles-')) : null;
  const surroundings = new Surroundings({ seconds, times, profileFolder });
  const stop = (): void => void surroundings.close().finally(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    for (const name of names) {
      if (!json) console.log(name);
      for (const row of await benches[name]!(surroundings)) console.log(json ? jsonLine(row) : textLine(row));
    }
  } finally {
    await surroundings.close();
  }
  if (profileFolder !== null)
    console.error(`Profiles are in ${profileFolder}; bench/support/profile-top.ts FILE prints what takes the time`);
  return 0;
}

function readArguments(args: string[]): { names: string[]; seconds: number; times: number; json: boolean; profile: boolean } | null {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        seconds: { type: 'string', default: '5' },
        times: { type: 'string', default: '10' },
        json: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
      },
    });
    const [seconds, times] = [Number(values.seconds), Number(values.times)];
    if (!(seconds >= 1 && seconds <= 600) || !(times >= 1 && times <= 1_000) || positionals.some((name) => !Object.hasOwn(benches, name)))
      return null;
    return {
      names: positionals.length === 0 ? Object.keys(benches) : positionals,
      seconds,
      times,
      json: values.json,
      profile: values.profile,
    };
  } catch {
    return null;
  }
}
