/** The end of a load: nothing new is started, and pending work completes. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Customer } from './customer.ts';
import { type KeptMoney, unpaidOrders } from './gather-money.ts';
import type { Spender } from './spender.ts';
import type { Trader } from './trader.ts';

const withinMs = 120_000;
const pollMs = 100;
const underWay = `(select count(*) from task where status not in ('complete', 'failed', 'cancelled'))
  + (select count(*) from message) + (select count(*) from effect)
  + (select count(*) from deployment where completed_at is null) + (select count(*) from timer where kind = 'deployment')`;

/**
 * Waits until every task has ended, no order is open, nothing is on its way, and every order that waited for money has been paid, as there is enough at last.
 * The checker reports what takes longer than two minutes. Resolves with the orders that waited although there was money.
 */
export async function settle(
  databaseUrl: string,
  { customers, spenders, traders }: { customers: readonly Customer[]; spenders: readonly Spender[]; traders: readonly Trader[] },
): Promise<KeptMoney['unpaid']> {
  for (const customer of customers) await customer.resumeAll();
  await Promise.all(traders.map((trader) => trader.cancelAll()));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await untilNone(client, underWay);
    const unpaid = await unpaidOrders(databaseUrl);
    await Promise.all(spenders.map((spender) => spender.depositForAll()));
    await untilNone(client, `${underWay} + (select count(*) from purchase_order where status = 'approved')`);
    return unpaid;
  } finally {
    await client.end();
  }
}

async function untilNone(client: pg.Client, what: string): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs;
  const count = async () => Number((await client.query(`select ${what} as count`)).rows[0].count);
  while ((await count()) > 0 && performance.now() < giveUpAtMs) await pause(pollMs);
}
