/** A node with cards and wallets, and the bench's counter beside them; asked from within. */

import pg from 'pg';
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { cardActor } from '../../src/domains/commerce/card/card.ts';
import { card, cardIdOf } from '../../src/domains/commerce/card/messages.ts';
import { commerceIds } from '../../src/domains/commerce/ids.ts';
import { commerceSchema } from '../../src/domains/commerce/schema.ts';
import { wallet } from '../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../src/domains/commerce/wallet/wallet.ts';
import { newId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import { CounterEntity, counter, counterActor, createCounterTable } from '../support/counter.ts';
import { drive } from '../support/drive.ts';
import { pace } from '../support/pace.ts';
import { serveCalls } from '../support/program.ts';

/** `hot`: all on one card. */
type Which = { hot: boolean };

const plentyMinor = 100_000_000_000;
const accounts = Array.from({ length: 1_000 }, (_, n) => `acct_${n}`);
const cards = accounts.map((accountId) => cardIdOf(accountId, newId(commerceIds.card, null)));
const openedTogether = 50;
const url = process.env.BENCH_DATABASE_URL!;
const log = createLog('warn');
const database = new Database(url, { schema: { entities: [CounterEntity, ...commerceSchema.entities] } });
const runtime = new Runtime({ database, placement: new SingleNode(url, 'bench', log), log });
const { actors } = runtime;

serveCalls({
  async prepare() {
    await database.migrate();
    await database.pool.query(createCounterTable);
    runtime.register([counterActor, cardActor, walletActor]);
    await runtime.start();
    for (let n = 0; n < cards.length; n += openedTogether) await Promise.all(cards.slice(n, n + openedTogether).map((_, i) => open(n + i)));
  },

  /** Durable commands of single actors: what authorizations are measured by. */
  add: ({ inFlight, ms }: { inFlight: number; ms: number }) =>
    drive((n) => actors.ask(counter, `c${n % 1_000}`, 'add', { accountId: `acct_c${n % 1_000}` }), inFlight, ms, false),

  authorize: ({ inFlight, ms, hot }: Which & { inFlight: number; ms: number }) => drive(authorizing(hot), inFlight, ms, true),

  authorizeAtRate: ({ perSecond, ms, hot }: Which & { perSecond: number; ms: number }) => pace(authorizing(hot), perSecond, ms),

  async check() {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const beganMs = performance.now();
    const { live, findings } = await checkLedger(client, null);
    const tookMs = performance.now() - beganMs;
    await client.end();
    return { entries: live.entries, findings, tookMs };
  },
});

async function open(n: number): Promise<void> {
  const accountId = accounts[n]!;
  const limits = { perTransactionMinor: plentyMinor, dailyMinor: plentyMinor, monthlyMinor: plentyMinor };
  await actors.ask(wallet, accountId, 'changeLimits', limits);
  await actors.ask(wallet, accountId, 'deposit', {
    transferId: newId(commerceIds.transaction, null),
    amountMinor: plentyMinor,
    source: 'card',
  });
  const about = {
    accountId,
    mode: 'live' as const,
    name: 'bench',
    last4: '0000',
    numberHash: cards[n]!,
    spendLimitMinor: plentyMinor,
    currency: 'USD',
  };
  await actors.ask(card, cards[n]!, 'create', about);
}

function authorizing(hot: boolean): (n: number) => Promise<unknown> {
  return async (n) => {
    const input = { authorizationId: newId(commerceIds.authorization, null), amountMinor: 1, merchant: 'bench' };
    const { status, declineReason } = await actors.ask(card, hot ? cards[0]! : cards[n % cards.length]!, 'authorize', input);
    if (status !== 'approved') throw new Error(`declined: ${declineReason}`);
  };
}
