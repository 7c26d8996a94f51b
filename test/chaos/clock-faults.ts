/** Wall clocks that jump and differ. Only clocks of nodes: all nodes use the database's clock. */
import { setTimeout as pause } from 'node:timers/promises';
import { hasSettableClock, setClock, withoutFaketime } from '../support/faketime.ts';
import type { NodeProcess } from '../support/node-process.ts';
import type { Random } from '../support/random.ts';

const stepsS = [-3_600, -60, -11, -2, 2, 11, 60, 3_600];
const halfApartS = 30;

export function clocksCanBeSet(nodes: readonly NodeProcess[]): boolean {
  return withoutFaketime === false && nodes.every(({ env }) => hasSettableClock(env));
}

/** Jumps away, and some time later back. */
export async function stepClock(node: NodeProcess, random: Random): Promise<string> {
  const seconds = random.pick(stepsS);
  const forMs = random.between(200, 6_000);
  if (!clocksCanBeSet([node])) return skipped();
  setClock(node.env, seconds);
  await pause(forMs);
  setClock(node.env, 0);
  return `${seconds} s for ${forMs} ms`;
}

/** All differ by a minute from the next one for a while. */
export async function clocksApart(nodes: readonly NodeProcess[], random: Random): Promise<string> {
  const forMs = random.between(2_000, 8_000);
  if (!clocksCanBeSet(nodes)) return skipped();
  nodes.forEach(({ env }, n) => {
    setClock(env, n % 2 === 0 ? halfApartS : -halfApartS);
  });
  await pause(forMs);
  for (const { env } of nodes) setClock(env, 0);
  return `a minute apart for ${forMs} ms`;
}

function skipped(): string {
  return `SKIPPED: ${withoutFaketime || 'the nodes were started without settable clocks'}`;
}
