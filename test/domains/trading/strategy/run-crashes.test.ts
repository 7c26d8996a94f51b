/** T1: a crash between any two steps of a run causes no bar to be traded twice or skipped. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { strategy } from '../../../../src/domains/trading/strategy/messages.ts';
import type { PaperAccount } from '../../../support/paper-account.ts';
import { strategyWorld } from '../../../support/strategy-world.ts';

const world = await strategyWorld('2026-03-02T15:00:00Z');
after(() => world.runtime.close());
const { market } = world;
const symbols = ['AAPL', 'MSFT'];
/** Trading days of New York in winter time. */
const days = ['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05'];
const reversion = { type: 'mean_reversion', config: { lookback: 2, z_entry: 0.5, z_exit: 0.1 } } as const;

/** One account with one strategy, whose process dies at this step. */
type Actor = {
  account: PaperAccount;
  id: string;
  dieAt: number;
  steps: string[];
  hasDied: boolean;
  dead: Promise<'dead'>;
  die: (how: 'dead') => void;
};

async function actor(dieAt: number): Promise<Actor> {
  const account = world.account();
  const id = await world.create(account, reversion, symbols, { capital: 10_000 });
  await world.start(account, id);
  const { promise: dead, resolve: die } = Promise.withResolvers<'dead'>();
  return { account, id, dieAt, steps: [], hasDied: false, dead, die };
}

/** Four days, from close to open. Where runs are held at the step at which their process is to die, it dies with all of them at once. */
async function fourDays(diesAt: readonly number[]): Promise<Actor[]> {
  market.content({ AAPL: 100, MSFT: 50 }, '2026-03-02T15:00:00Z');
  const actors = await Promise.all(diesAt.map(actor));
  const byName = new Map(actors.flatMap((each) => [[each.id, each] as const, [each.account.accountId, each] as const]));
  world.atStep = async (step, who) => {
    const { steps, dieAt, die } = byName.get(who)!;
    steps.push(step);
    if (steps.length - 1 !== dieAt) return;
    die('dead');
    await new Promise<never>(() => {});
  };
  for (const [n, day] of days.entries()) {
    market.content({ AAPL: 100 + n, MSFT: 50 - n }, `${day}T21:00:01Z`);
    const input = { nowMs: market.clock.nowMs() };
    const ends = await Promise.all(
      actors.map(async ({ id, dead, hasDied }) => {
        await world.runtime.actors.ask(strategy, id, 'due', input);
        return hasDied ? world.settled(id) : Promise.race([dead, world.settled(id)]);
      }),
    );
    if (ends.includes('dead')) await world.runtime.crashAndRestart();
    for (const [at, end] of ends.entries()) if (end === 'dead') actors[at]!.hasDied = true;
    for (const { id } of actors) await world.settled(id);
    // The orders of the evening fill at the next day's open.
    const open = new Date(Date.parse(`${day}T14:31:00Z`) + 86_400_000).toISOString();
    for (const now of [open, open.replace(':31:', ':32:')]) {
      market.content({}, now);
      for (const { account } of actors) await account.mark();
    }
  }
  return actors;
}

async function traded({ account }: Actor): Promise<unknown> {
  const rows = await account.orders();
  const orders = rows.map(({ symbol, side, quantity, status }) => JSON.stringify({ symbol, side, quantity, status })).sort();
  return { orders, held: (await account.state())?.books.embedded?.book.positions };
}

test('after a crash at any step the same orders are placed, each once', { timeout: 240_000 }, async (t) => {
  const [whole] = await fourDays([Number.POSITIVE_INFINITY]);
  const expected = (await traded(whole!)) as { orders: string[] };
  assert.ok(expected.orders.length >= 4 && expected.orders.every((order) => order.includes('filled')), JSON.stringify(expected));
  const actors = await fourDays(whole!.steps.map((_, n) => n));
  for (const each of actors) assert.deepEqual(await traded(each), expected, `died at step ${each.dieAt}, ${whole!.steps[each.dieAt]}`);
  t.diagnostic(`${whole!.steps.length} steps, ${expected.orders.length} orders`);
});
