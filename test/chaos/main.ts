/**
 * `npm run chaos [-- --seed N] [--minutes M] [--nodes 3] [--only money] [--faults "kill,redis emptied"] [--keep FOLDER]`: breaks a cluster of
 * real processes under load, at random, and checks that nobody could notice more than they are told to expect, and that no cent is missing.
 * The same seed makes the same faults in the same order; what the processes make of it depends on the machine. `--nodes 1` is the service of
 * one node, without Redis; `--only money` a load of payments alone. Ends with 1 when a rule was broken; then, and with --keep always, history
 * and logs are kept.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { faultNamed, faults } from './faults.ts';
import { loads, type Report, run } from './run.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const asked = readArguments(args);
  if (asked === null) {
    console.error(`Usage: npm run chaos -- [--seed N] [--minutes 0.1 to 600] [--nodes 1 to 7] [--only money] [--faults "NAME,NAME"] [--keep FOLDER]
Faults: ${faults.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  const { seed, minutes, nodes, load, script, folder } = asked;
  console.log(`seed ${seed}, ${nodes} nodes`);
  // Whoever keeps the logs wants to know what the nodes thought.
  const env: Record<string, string> = folder === undefined ? {} : { LOG_LEVEL: 'info' };
  const report = await run({ seed, minutes, nodes, clustered: nodes > 1, load, script, env, onFault: (line) => console.log(line) });
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
        minutes: { type: 'string', default: '2' },
        nodes: { type: 'string', default: '3' },
        only: { type: 'string', default: 'all' },
        faults: { type: 'string' },
        keep: { type: 'string' },
      },
    });
    const [seed, minutes, nodes] = [Number(values.seed), Number(values.minutes), Number(values.nodes)];
    if (!Number.isSafeInteger(seed) || !(minutes >= 0.1 && minutes <= 600) || !(Number.isInteger(nodes) && nodes >= 1 && nodes <= 7))
      return null;
    if (!Object.hasOwn(loads, values.only)) return null;
    const load = loads[values.only as keyof typeof loads];
    const script = values.faults?.split(',').map((name) => faultNamed(name.trim()));
    return { seed, minutes, nodes, load, script, folder: values.keep };
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}
