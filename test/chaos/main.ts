/**
 * `npm run chaos [-- --seed N] [--minutes M] [--nodes 3] [--only money|trading|deployments] [--faults "kill,redis emptied"] [--previous COMMIT] [--keep FOLDER]`: breaks a cluster of
 * real processes under load, at random, and checks that clients observe no more than the guarantees allow, and that no cent is missing.
 * The same seed makes the same faults in the same order; what the processes make of it depends on the machine. `--nodes 1` is the service of
 * one node, without Redis; `--only money` a load of payments alone, `--only trading` one of orders, `--only deployments` one of sites; `--faults` each of these once, with `--minutes` at random for as long. The seed, or the faults that are named, decide what else the run stands on
 * (`topology.ts`): disks that can be filled and broken, a PgBouncer, nodes of an earlier version (`--previous`, the commit before if not
 * said). Ends with 1 when a rule was broken; then, and with --keep always, history and logs are kept. Ctrl-C heals and closes; a second one does not wait.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, faultNamed, faults } from './faults.ts';
import { loads, type Report, run } from './run.ts';
import { chooseTopology, topologyText } from './topology.ts';

process.exit(await main(process.argv.slice(2)));

async function main(args: string[]): Promise<number> {
  const asked = readArguments(args);
  if (asked === null) {
    console.error(`Usage: npm run chaos -- [--seed N] [--minutes 0.1 to 600] [--nodes 1 to 7] [--only money|trading|deployments] [--faults "NAME,NAME"] [--previous COMMIT] [--keep FOLDER]
Faults: ${faults.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  const { seed, minutes, nodes, load, named, isRepeated, previous, folder } = asked;
  const wanted = named === null ? null : new Set(named.flatMap(({ needs }) => needs ?? []));
  const topology = await chooseTopology(seed, wanted, previous);
  console.log([`seed ${seed}`, `${nodes} nodes`, ...topologyText(topology)].join(', '));
  for (const { part, why } of topology.leftOut) console.log(`SKIPPED: faults of ${part}, because ${why}`);
  const isLeftOut = ({ needs }: Fault) => topology.leftOut.some(({ part }) => part === needs);
  const possible = named?.filter((fault) => !isLeftOut(fault));
  const which = isRepeated ? { among: possible } : { script: possible };
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (ending.signal.aborted) process.exit(130);
      console.log('Healing and closing ...');
      ending.abort();
    });
  // Kept logs should include the decisions of the nodes.
  const env: Record<string, string> = folder === undefined ? {} : { LOG_LEVEL: 'info' };
  const clustered = nodes > 1;
  const onFault = (line: string) => console.log(line);
  const report = await run({ seed, minutes, nodes, clustered, load, ...which, env, topology, signal: ending.signal, onFault }).catch(
    (error) => {
      if (ending.signal.aborted) return null;
      throw error;
    },
  );
  if (report === null) return 130;
  for (const [what, figure] of Object.entries(report.summary)) console.log(`${what.replaceAll('_', ' ').padEnd(24)} ${figure}`);
  for (const words of report.slow) console.log(`slow    ${words}`);
  if (folder !== undefined) await save(report, folder);
  if (report.violations.length === 0) {
    console.log(`All rules held (seed ${seed})`);
    return 0;
  }
  for (const { rule, words } of report.violations) console.log(`BROKEN  ${rule}: ${words}`);
  console.log(`Seed ${seed}; history and logs are in ${folder ?? (await save(report, await mkdtemp(join(tmpdir(), 'troupe-chaos-'))))}`);
  return 1;
}

async function save({ history, logs }: Report, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await history.save(join(folder, 'history.jsonl'));
  for (const { node, log } of logs) await writeFile(join(folder, `${node}.log`), log);
  return folder;
}

function readArguments(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
        minutes: { type: 'string' },
        nodes: { type: 'string', default: '3' },
        only: { type: 'string', default: 'all' },
        faults: { type: 'string' },
        previous: { type: 'string', default: 'HEAD~1' },
        keep: { type: 'string' },
      },
    });
    const [seed, minutes, nodes] = [Number(values.seed), Number(values.minutes ?? 2), Number(values.nodes)];
    if (!Number.isSafeInteger(seed) || !(minutes >= 0.1 && minutes <= 600) || !(Number.isInteger(nodes) && nodes >= 1 && nodes <= 7))
      return null;
    if (!Object.hasOwn(loads, values.only)) return null;
    const load = loads[values.only as keyof typeof loads];
    const named = values.faults?.split(',').map((name) => faultNamed(name.trim())) ?? null;
    const isRepeated = values.minutes !== undefined;
    return { seed, minutes, nodes, load, named, isRepeated, previous: values.previous, folder: values.keep };
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}
