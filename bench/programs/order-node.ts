/** A node with trading accounts on a market whose contents the bench makes, and the bench's counter beside them; asked from within. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { noVenue, tradingActors } from '../../src/domains/trading/actors.ts';
import { tradingIds } from '../../src/domains/trading/ids.ts';
import { sessionState } from '../../src/domains/trading/market/calendar.ts';
import type { Quote } from '../../src/domains/trading/market/port.ts';
import type { OrderTerms } from '../../src/domains/trading/orders/terms.ts';
import { tradingSchema } from '../../src/domains/trading/schema.ts';
import { loadAhead } from '../../src/domains/trading/trading-account/load-ahead.ts';
import type { AccountMarket } from '../../src/domains/trading/trading-account/market.ts';
import { defaultLimits, tradingAccount, tradingOrderIdOf } from '../../src/domains/trading/trading-account/messages.ts';
import { newId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { checkTrading } from '../../src/storage/trading-check.ts';
import { CounterEntity, counter, counterActor, createCounterTable } from '../support/counter.ts';
import { type Driven, drive } from '../support/drive.ts';
import { serveCalls } from '../support/program.ts';

/** New quotes come as often as a file of quotes is polled, so that orders fill while others are placed. */
const contentEveryMs = 100;
/** As the node's own marks. */
const markedAtOnce = 64;
const accounts = Array.from({ length: 1_000 }, () => newId('acct_', null));
const url = process.env.BENCH_DATABASE_URL!;
const log = createLog('warn');
const database = new Database(url, { schema: { ...tradingSchema, entities: [CounterEntity, ...(tradingSchema.entities ?? [])] } });
const runtime = new Runtime({ database, placement: new SingleNode(url, 'bench', log), log });
const { actors } = runtime;

let sequence = 1;
const clock = { nowMs: () => Date.now() };
const market: AccountMarket = {
  name: 'embedded',
  hours: 'always',
  clock,
  quoteNow: (symbol) => quoteOf(symbol),
  quoteAt: () => null,
  actionsNow: () => [],
};
const route = { brokerKey: 'embedded', brokerName: 'embedded', orderMode: 'paper', filledBy: 'embedded' } as const;
/** Accounts with orders since the last content. */
const traded = new Set<string>();

serveCalls({
  async prepare() {
    await database.migrate();
    await database.pool.query(createCounterTable);
    runtime.register([
      counterActor,
      ...tradingActors({ market, venue: noVenue, timing: { lookUpMs: 60_000, reconcileMs: 60_000 }, timeoutMs: 10_000 }),
    ]);
    await runtime.start();
    for (let n = 0; n < accounts.length; n += 50) await Promise.all(accounts.slice(n, n + 50).map((_, i) => place(n + i)));
    await content();
  },

  /** Durable commands of single actors: what orders are measured by. */
  add: ({ inFlight, ms }: { inFlight: number; ms: number }) =>
    drive((n) => actors.ask(counter, `c${n % 1_000}`, 'add', { accountId: `acct_c${n % 1_000}` }), inFlight, ms, false),

  /** Orders, each to its fill: the time of the last fills counts. */
  async orders({ inFlight, ms }: { inFlight: number; ms: number }): Promise<Driven> {
    let isOver = false;
    const filling = (async () => {
      for (; !isOver; await pause(contentEveryMs)) await content();
    })();
    const beganMs = performance.now();
    const driven = await drive(place, inFlight, ms, false);
    isOver = true;
    await filling;
    await content();
    return { ...driven, elapsedMs: performance.now() - beganMs };
  },

  async check() {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { live, findings } = await checkTrading(client, null);
    await client.end();
    return { ...live, findings };
  },
});

/** So little that neither cash nor limits are ever used up. */
async function place(n: number): Promise<void> {
  const accountId = accounts[n % accounts.length]!;
  const orderId = tradingOrderIdOf(accountId, newId(tradingIds.order, accountId));
  const terms: OrderTerms = {
    symbol: 'AAPL',
    assetClass: 'equity',
    side: 'buy',
    quantity: '0.001',
    orderType: 'market',
    limitPrice: null,
    stopPrice: null,
    timeInForce: 'gtc',
  };
  await loadAhead(actors, { tradingAccountId: accountId, orderIds: [orderId], clientOrderId: null });
  const order = { ...route, orderId, clientOrderId: null, terms, quote: quoteOf('AAPL'), limits: defaultLimits };
  await actors.ask(tradingAccount, accountId, 'place', order);
  traded.add(accountId);
}

/** A new quote, and what it fills. */
async function content(): Promise<void> {
  sequence++;
  const ids = [...traded].values();
  traded.clear();
  const loop = async (): Promise<void> => {
    for (const id of ids) while ((await actors.ask(tradingAccount, id, 'mark', {})).more);
  };
  await Promise.all(Array.from({ length: markedAtOnce }, loop));
}

function quoteOf(symbol: string): Quote {
  const nowMs = clock.nowMs();
  const price = { bid: 99.99, ask: 100.01, last: 100, volume: 1_000_000 };
  return {
    symbol,
    assetClass: 'equity',
    ...price,
    atMs: nowMs,
    sequence,
    ...sessionState('equity', 'always', nowMs),
    tick: 0.01,
    source: 'embedded',
  };
}
