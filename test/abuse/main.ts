/**
 * `npm run abuse [-- --seed N] [--minutes M | --requests N]`: attacks every endpoint of a service of its own with hostile values made from its OpenAPI
 * description, then lets one account flood it, with many keys, with messages to `/mcp`, with work that computes without end, and with much work beside a quiet one, and ends with 1 when something breaks, is not
 * as described, or discloses another account. Nothing leaves this machine. The same seed makes the same attacks; four streams of them run at once,
 * so their order may differ.
 */
import { parseArgs } from 'node:util';
import { type FloodReport, flood } from './flood.ts';
import { type HostileWorkReport, hostileWork } from './hostile-work.ts';
import { type ManyKeysReport, manyKeys } from './many-keys.ts';
import { type McpFloodReport, mcpFlood } from './mcp-flood.ts';
import { abuse, type Bounds, type Report } from './run.ts';

/** How often the quiet account does each of its things. */
const floodRounds = 20;

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
    const scope = { after: (end: () => unknown) => void endings.unshift(end) };
    print(await abuse(scope, bounds));
    printManyKeys(await manyKeys(scope));
    printMcpFlood(await mcpFlood(scope));
    printHostileWork(await hostileWork(scope, floodRounds));
    printFlood(await flood(scope, floodRounds));
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

function printManyKeys({ keys, granted, refused, sockets, quietP99Ms }: ManyKeysReport): void {
  console.log(
    `${keys} keys of one free account: ${granted} requests in 5 s, ${refused} refused; ${sockets} sockets; the quiet account's p99 ${quietP99Ms.toFixed(1)} ms`,
  );
}

function printMcpFlood(report: McpFloodReport): void {
  for (const [limits, { answered, p50Ms, p99Ms, longestTurnMs }] of Object.entries(report))
    console.log(
      `A flood of /mcp, ${limits}: ${JSON.stringify(answered)}; the quiet account's p50 ${p50Ms} ms, p99 ${p99Ms} ms; longest turn ${longestTurnMs} ms of processor time`,
    );
}

function printHostileWork({ hostileTasks, quietTasks, p50Ms, p99Ms }: HostileWorkReport): void {
  console.log(
    `${hostileTasks} hostile tasks beside ${quietTasks} of the quiet account, which took ${p50Ms.toFixed()} ms (p50) and ${p99Ms.toFixed()} ms (p99)`,
  );
}

function printFlood(report: FloodReport): void {
  console.log('A quiet account, alone and beside the flood of another (p50 and p99 in ms):');
  for (const { what, alone, beside } of report)
    console.log(`${what.padEnd(28)} ${alone.p50Ms} ${alone.p99Ms}   beside: ${beside.p50Ms} ${beside.p99Ms}`);
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
