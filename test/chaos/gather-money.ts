/** Reads all payments at the end of a run: from every node, and from the ledger in the database. */
import pg from 'pg';
import type { Client, Door } from './client.ts';
import { commandOutcome } from './command-outcome.ts';
import { inTurn, readOfAKind } from './gather.ts';
import type { Decided, History } from './history.ts';

/** Amounts are in cents. A `day` is a day of UTC, as in spending limits. */
export type KeptMoney = {
  /** The answers of each node. */
  wallets: { node: string; account: string; balance: number; held: number }[];
  spending: { node: string; account: string; day: string; daySpent: number; monthSpent: number }[];
  cards: { node: string; id: string; limit: number; spent: number; status: string }[];
  orderViews: { node: string; id: string; status: string }[];
  /** From the database. `mark`: card/merchant. `days`: the first and the last day on which the wallet can have counted the authorization. */
  authorizations: {
    id: string;
    account: string;
    card: string;
    mark: string;
    amount: number;
    status: string;
    reason: string | null;
    days: [string, string];
  }[];
  /** `days`: null unless the order is approved. */
  orders: {
    id: string;
    account: string;
    description: string;
    amount: number;
    status: string;
    isAsking: boolean;
    days: [string, string] | null;
  }[];
  entries: { transfer: string; account: string; book: string; amount: number; reference: string }[];
  /** Events of authorizations, deposits and decided orders. `about`: the id of the authorization, deposit or order. */
  events: { account: string; type: string; about: string }[];
  openHolds: number;
  /** Approved orders that stayed unpaid although the wallet held enough money, before the last deposits. */
  unpaid: { id: string; account: string; amount: number; available: number }[];
  /** Exit code and output of `troupe ledger check`. */
  ledgerCheck: { code: number; output: string };
};

type NamedDoor = Door & { readonly name: string };

/** The wallet decides after the request to a card and before the answer to an order; this is the longest time between the two. */
const apart = `interval '1 minute'`;
const days = (from: string, to: string) =>
  `array[${[from, to].map((time) => `to_char((${time}) at time zone 'UTC', 'YYYY-MM-DD')`).join()}]`;

export async function gatherMoney(
  { doors, databaseUrl }: { doors: readonly NamedDoor[]; databaseUrl: string },
  clients: readonly Client[],
  { operations }: Pick<History, 'operations'>,
  unpaid: KeptMoney['unpaid'],
): Promise<KeptMoney> {
  const everywhere = <T>(of: Client, ids: readonly T[]) => ids.flatMap((id) => doors.map((door) => ({ id, of, door })));
  const read = async ({ of, door }: { of: Client; door: NamedDoor }, path: string): Promise<any> => {
    const answer = await of.askNode(door, { method: 'GET', path: `/v1/commerce/${path}` });
    return answer?.status === 200 ? answer.json : { status: `answered ${answer?.status ?? 'nothing'}` };
  };
  const doneBy = (of: Client, name: string) =>
    operations.filter((one) => one.account === of.account && one.name === name && one.outcome === 'done').map(({ result }) => result);
  const wallets = await inTurn(
    clients.flatMap((of) => everywhere(of, [of.account])),
    async (one) => {
      const [{ balance, held }, spending] = [await read(one, 'wallet/balance'), await read(one, 'spending-limits')];
      const source = { node: one.door.name, account: one.id };
      return {
        wallet: { ...source, balance: minor(balance), held: minor(held) },
        spending: {
          ...source,
          day: new Date().toISOString().slice(0, 10),
          daySpent: minor(spending.daily_spent),
          monthSpent: minor(spending.monthly_spent),
        },
      };
    },
  );
  const cards = await inTurn(
    clients.flatMap((of) => everywhere(of, doneBy(of, 'issue card') as string[])),
    async (one) => {
      const { spend_limit: limit, spent, status } = await read(one, `cards/${one.id}`);
      return { node: one.door.name, id: one.id, limit: minor(limit), spent: minor(spent), status };
    },
  );
  const orderViews = await inTurn(
    clients.flatMap((of) => {
      const ids = (doneBy(of, 'place order') as Decided[]).map(({ id }) => id);
      return everywhere(of, ids.length <= readOfAKind ? ids : [...ids.slice(0, readOfAKind / 2), ...ids.slice(-readOfAKind / 2)]);
    }),
    async (one) => ({ node: one.door.name, id: one.id, status: (await read(one, `orders/${one.id}`)).status }),
  );
  return {
    wallets: wallets.map(({ wallet }) => wallet),
    spending: wallets.map(({ spending }) => spending),
    cards,
    orderViews,
    ...(await readBooks(databaseUrl)),
    unpaid,
    ledgerCheck: await commandOutcome(['ledger', 'check'], databaseUrl),
  };
}

/** Approved orders that are unpaid although their wallet holds enough money. Valid only when no operation is in flight. */
export async function unpaidOrders(databaseUrl: string): Promise<KeptMoney['unpaid']> {
  return rowsOf(
    databaseUrl,
    `select o.id, o.account_id as account, o.amount_minor::float8 as amount, (w.balance_minor - w.held_minor)::float8 as available
     from purchase_order o join wallet w on w.id = case o.mode when 'test' then 'test_' || o.account_id else o.account_id end
     where o.status = 'approved' and o.amount_minor <= w.balance_minor - w.held_minor`,
  );
}

/** As it is answered: an earlier version records the wallet's reason. */
function shownReason(column: string): string {
  return `case ${column} when 'per_transaction_limit' then 'spend_limit_exceeded' else ${column} end`;
}

async function readBooks(url: string) {
  const authorizations = await rowsOf(
    url,
    `select id, account_id as account, card_id as card, card_id || '/' || merchant as mark, amount_minor::float8 as amount, status, ${shownReason('decline_reason')} as reason,
       ${days('created_at', `created_at + ${apart}`)} as days
     from card_authorization`,
  );
  const orders = await rowsOf(
    url,
    `select id, account_id as account, description, amount_minor::float8 as amount, status, asking is not null as "isAsking",
       case when approved_at is not null then ${days(`approved_at - ${apart}`, 'approved_at')} end as days
     from purchase_order`,
  );
  const entries = await rowsOf(
    url,
    `select transfer_id as transfer, account_id as account, book, amount_minor::float8 as amount, reference from ledger_entry`,
  );
  const events = await rowsOf(
    url,
    `select account_id as account, type, coalesce(data->>'authorization_id', data->>'order_id', data->>'id') as about
     from event where type in ('card.authorized', 'card.declined', 'wallet.deposited', 'order.approved', 'order.rejected', 'order.complete')`,
  );
  const [{ count: openHolds }] = await rowsOf(url, `select count(*)::float8 as count from wallet_hold where status = 'open'`);
  return { authorizations, orders, entries, events, openHolds } satisfies Partial<KeptMoney>;
}

async function rowsOf(url: string, text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** NaN if there is no amount, so that it equals no other amount. */
function minor(major: number): number {
  return Math.round(major * 100);
}
