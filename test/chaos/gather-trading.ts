/** Reads all trading data at the end of a run: from every node, and from the database. */
import pg from 'pg';
import type { Client, Door } from './client.ts';
import { commandOutcome } from './command-outcome.ts';
import { inTurn, readOfAKind } from './gather.ts';
import type { History } from './history.ts';

export type KeptTrading = {
  /** `mark`: its client_order_id; legs and orders of strategies have none. */
  orders: {
    id: string;
    account: string;
    mark: string | null;
    status: string;
    filled: string;
    replaces: string | null;
    isLeg: boolean;
    isOfStrategy: boolean;
    filledBy: string;
    /** It is unknown whether the broker has the order: a person must check. */
    isUnknown: boolean;
    /** Its broker is Tradier, where only the end of its session proves that it does not exist, and an event has reported its unknown outcome. */
    isLeftToSession: boolean;
  }[];
  fills: { id: string; order: string }[];
  /** `trade.*`; `fill`: of events about one. */
  events: { type: string; order: string; fill: string | null }[];
  /** The sum of an account's fills, shorts negative. */
  held: { account: string; symbol: string; quantity: number }[];
  /** What each node says. */
  orderViews: { node: string; id: string; status: string; filled: number }[];
  positions: { node: string; account: string; symbol: string; quantity: number }[];
  /** What the brokers have. */
  venue: { ourId: string | null; filled: number }[];
  /** How `troupe trading check` ended, and what it said. */
  check: { code: number; output: string };
};

type NamedDoor = Door & { readonly name: string };

export async function gatherTrading(
  { doors, databaseUrl }: { doors: readonly NamedDoor[]; databaseUrl: string },
  clients: readonly Client[],
  { operations }: Pick<History, 'operations'>,
  venue: KeptTrading['venue'],
): Promise<KeptTrading> {
  const read = async (of: Client, door: NamedDoor, path: string): Promise<any> => {
    const answer = await of.askNode(door, { method: 'GET', path: `/v1/trading/${path}` });
    return answer?.status === 200 ? answer.json : { status: `answered ${answer?.status ?? 'nothing'}`, data: [] };
  };
  const orderViews = await inTurn(
    clients.flatMap((of) => {
      const own = operations.filter(({ account, name, outcome }) => account === of.account && name === 'trade' && outcome === 'done');
      const ids = own.map(({ result }) => String(result));
      const some = ids.length <= readOfAKind ? ids : [...ids.slice(0, readOfAKind / 2), ...ids.slice(-readOfAKind / 2)];
      return some.flatMap((id) => doors.map((door) => ({ id, of, door })));
    }),
    async ({ id, of, door }) => {
      const { status, filled_quantity: filled } = await read(of, door, `orders/${id}`);
      return { node: door.name, id, status, filled };
    },
  );
  const positions = await inTurn(
    clients.flatMap((of) => doors.map((door) => ({ of, door }))),
    async ({ of, door }) => {
      const { data } = await read(of, door, 'positions?limit=100');
      return data.map((one: { symbol: string; quantity: number }) => ({
        node: door.name,
        account: of.account,
        symbol: one.symbol,
        quantity: one.quantity,
      }));
    },
  );
  return {
    orderViews,
    venue,
    positions: positions.flat(),
    ...(await readDatabase(databaseUrl)),
    check: await commandOutcome(['trading', 'check'], databaseUrl),
  };
}

async function readDatabase(url: string): Promise<Pick<KeptTrading, 'orders' | 'fills' | 'events' | 'held'>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = async (text: string): Promise<any[]> => (await client.query(text)).rows;
  try {
    return {
      orders: await rows(
        `select id, account_id as account, client_order_id as mark, status, state->'fills'->>'quantity' as filled, replaces, parent_id is not null as "isLeg", strategy_id is not null as "isOfStrategy", filled_by as "filledBy", (state->>'unknownOutcome')::boolean as "isUnknown",
           broker_name = 'tradier' and exists (select from event e where e.type = 'trading.attention' and e.data->>'reason' = 'unknown_outcome' and e.data->>'order_id' = o.id) as "isLeftToSession"
         from trading_order o`,
      ),
      fills: await rows('select id, order_id as "order" from trading_fill'),
      events: await rows(`select type, data->>'order_id' as "order", data->'fill'->>'id' as fill from event where type like 'trade.%'`),
      held: await rows(
        `select o.account_id as account, f.symbol, sum(case f.side when 'buy' then f.quantity::numeric else -f.quantity::numeric end)::float8 as quantity
         from trading_fill f join trading_order o on o.id = f.order_id group by 1, 2`,
      ),
    };
  } finally {
    await client.end();
  }
}
