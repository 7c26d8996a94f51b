/**
 * `npm run abuse [-- --seed N] [--minutes M | --requests N]`: attacks every endpoint of a service of its own with hostile values made from its OpenAPI
 * description, and ends with 1 when something breaks, is not as described, or tells of another account. Nothing leaves this machine. The same
 * seed makes the same attacks; four streams of them run at once, so their order may differ.
 */
import { parseArgs } from 'node:util';
import { abuse, type Bounds, type Report } from './run.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const bounds = readArguments(args);
  if (bounds === null) {
    console.error('Usage: npm run abuse -- [--seed N] [--minutes 0.1 to 600 | --requests 400 to 10000000]');
    return 2;
  }
  console.log(`seed ${bounds.seed}`);
  const endings: (() => unknown)[] = [];
  try {
    print(await abuse({ after: (end) => void endings.unshift(end) }, bounds));
    console.log(`All rules held (seed ${bounds.seed})`);
    return 0;
  } catch (error) {
    console.error(`BROKEN  ${(error as Error).message}\nAgain with: npm run abuse -- --seed ${bounds.seed}`);
    return 1;
  } finally {
    for (const end of endings) await end();
  }
}

function print({ requests, answers }: Report): void {
  for (const [name, byStatus] of [...answers].sort()) {
    const counts = Object.entries(byStatus).map(([status, count]) => `${status}: ${count}`);
    console.log(`${name.padEnd(68)} ${counts.join('  ')}`);
  }
  console.log(`${requests} requests to ${answers.size} operations`);
}

function readArguments(args: string[]): Bounds | null {
  try {
    const seed = { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) } as const;
    const { values } = parseArgs({ args, options: { seed, minutes: { type: 'string' }, requests: { type: 'string' } } });
    const minutes = Number(values.minutes ?? (values.requests === undefined ? 2 : 600));
    const requests = Number(values.requests ?? 10_000_000);
    const given = { seed: Number(values.seed), minutes, requests };
    const isFine = Number.isSafeInteger(given.seed) && minutes >= 0.1 && minutes <= 600 && requests >= 400 && requests <= 10_000_000;
    return isFine ? given : null;
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}
