/** Speaks like Tradier's brokerage API. Read from docs, seen 2026-11-23: docs.tradier.com as cited by others, QuantConnect/Lean.Brokerages.Tradier at 4a35a44. */

import { BrokerStandIn, type StandInOrder, type VenueAnswer, type VenueRequest } from './broker-stand-in.ts';
import type { Json } from './json.ts';
import type { ServedSocket } from './web-socket-server.ts';

export const tradierKeys = { accessToken: 'tradier-token-of-tests', accountId: 'VA000001' };
const root = `/v1/accounts/${tradierKeys.accountId}`;
const stateNames = { working: 'open', filled: 'filled', cancelled: 'canceled', rejected: 'rejected', expired: 'expired' };

export class TradierServer extends BrokerStandIn {
  keys = tradierKeys;
  /** Taken with 200 and rejected afterwards, with this reason. */
  rejectsWith: string | null = null;
  /** Market data by the venue's symbol; null: this server has none. */
  quotes: Map<string, object> | null = null;
  /** Daily bars, and shorter ones by symbol and interval: `AAPL 1min`. */
  readonly days = new Map<string, object[]>();
  readonly slices = new Map<string, object[]>();
  private readonly listening = new Set<ServedSocket>();

  /** The token is revoked, and the account gets another. */
  rotateKeys(): void {
    this.keys = { ...tradierKeys, accessToken: 'next-tradier-token-of-tests' };
  }

  override forget(): void {
    super.forget();
    this.rejectsWith = null;
    this.keys = tradierKeys;
    this.quotes = null;
    this.days.clear();
    this.slices.clear();
  }

  protected isOrderPost({ method, path }: VenueRequest): boolean {
    return method === 'POST' && path === `${root}/orders`;
  }

  protected override newId(n: number): string {
    return String(228_000 + n);
  }

  protected answer({ method, path, query, body, headers }: VenueRequest): VenueAnswer {
    if (headers.authorization !== `Bearer ${this.keys.accessToken}`) return { status: 401, text: 'Invalid Access Token' };
    if (method === 'POST' && path === '/v1/accounts/events/session')
      return { status: 200, json: { stream: { url: `${this.url.replace('http', 'ws')}/v1/accounts/events`, sessionid: 'c8638963' } } };
    if (path === '/v1/markets/quotes' && this.quotes !== null) return { status: 200, json: { quotes: this.quoted(query.get('symbols')!) } };
    if (path === '/v1/markets/history') return { status: 200, json: { history: series('day', this.days.get(query.get('symbol')!)) } };
    if (path === '/v1/markets/timesales') {
      const found = this.slices.get(`${query.get('symbol')} ${query.get('interval')}`);
      return { status: 200, json: { series: series('data', found) } };
    }
    if (method === 'POST') return this.place(new URLSearchParams(body));
    if (path === `${root}/orders`)
      return {
        status: 200,
        json: {
          orders: listed(
            'order',
            this.orders.filter(({ hidden }) => !hidden).map((order) => this.shown(order)),
          ),
        },
      };
    if (path.startsWith(`${root}/orders/`)) {
      const order = this.orders.find(({ id }) => id === path.slice(`${root}/orders/`.length));
      if (order === undefined)
        return { status: 404, json: { fault: { faultstring: 'order not found', detail: { errorcode: 'not.found' } } } };
      if (method === 'GET') return { status: 200, json: { order: this.shown(order) } };
      if (order.state !== 'working') return { status: 400, json: { errors: { error: 'order already in finalized state: filled' } } };
      order.state = 'cancelled';
      this.sendUpdate(order);
      return { status: 200, json: { order: { id: Number(order.id), status: 'ok' } } };
    }
    if (path === `${root}/positions`) return { status: 200, json: { positions: listed('position', this.positions()) } };
    if (path === `${root}/balances`)
      return {
        status: 200,
        json: {
          balances: {
            account_number: tradierKeys.accountId,
            account_type: 'margin',
            total_cash: this.cash,
            total_equity: this.cash,
            margin: { stock_buying_power: this.cash * 2 },
          },
        },
      };
    return { status: 404, text: 'not found' };
  }

  sendUpdate(order: StandInOrder): void {
    for (const socket of this.listening)
      socket.send({
        id: Number(order.id),
        event: 'order',
        status: stateNames[order.state],
        type: order.type,
        account: tradierKeys.accountId,
        executed_quantity: order.filled,
      });
  }

  protected receive({ sessionid }: Json, socket: ServedSocket): void {
    if (sessionid === 'c8638963') this.listening.add(socket);
    else socket.cut();
  }

  private place(fields: URLSearchParams): VenueAnswer {
    if (!/^[A-Za-z0-9-]*$/.test(fields.get('tag') ?? ''))
      return { status: 400, json: { errors: { error: ['tag has characters that it may not have'] } } };
    const made = this.make({
      ourId: fields.get('tag'),
      symbol: fields.get('symbol')!,
      side: fields.get('side')!.startsWith('buy') ? 'buy' : 'sell',
      type: fields.get('type')!,
      timeInForce: fields.get('duration')!,
      quantity: Number(fields.get('quantity')),
      limitPrice: fields.get('price'),
      stopPrice: fields.get('stop'),
    });
    if (this.rejectsWith !== null) {
      made.state = 'rejected';
      made.reason = this.rejectsWith;
    }
    return { status: 200, json: { order: { id: Number(made.id), status: 'ok', partner_id: 'c4998eb7-06e8-4820-a7ab-55d9760065fb' } } };
  }

  private shown(order: StandInOrder) {
    const at = new Date(order.createdAtMs).toISOString();
    return {
      id: Number(order.id),
      type: order.type,
      symbol: order.symbol,
      side: order.side,
      quantity: order.quantity,
      status: order.state === 'working' && order.filled > 0 ? 'partially_filled' : stateNames[order.state],
      duration: order.timeInForce,
      ...(order.limitPrice !== null && { price: Number(order.limitPrice) }),
      ...(order.stopPrice !== null && { stop_price: Number(order.stopPrice) }),
      avg_fill_price: order.filled > 0 ? order.value / order.filled : 0,
      exec_quantity: order.filled,
      last_fill_price: 0,
      last_fill_quantity: 0,
      remaining_quantity: order.quantity - order.filled,
      create_date: at,
      transaction_date: at,
      class: 'equity',
      ...(order.reason !== null && { reason_description: order.reason }),
      ...(order.ourId !== null && { tag: order.ourId }),
    };
  }

  private quoted(symbol: string) {
    const quote = this.quotes?.get(symbol);
    return quote === undefined ? { unmatched_symbols: { symbol } } : { quote: { symbol, type: 'stock', exch: 'Q', ...quote } };
  }

  private positions() {
    const held = new Map<string, { quantity: number; cost: number }>();
    for (const { symbol, side, value, filled } of this.orders) {
      const sign = side === 'buy' ? 1 : -1;
      const { quantity, cost } = held.get(symbol) ?? { quantity: 0, cost: 0 };
      held.set(symbol, { quantity: quantity + sign * filled, cost: cost + sign * value });
    }
    return Array.from(held, ([symbol, { quantity, cost }]) => ({
      id: 1,
      symbol,
      quantity,
      cost_basis: cost,
      date_acquired: '2026-11-23T00:00:00.000Z',
    }));
  }
}

/** Nothing is the text "null", one is an object. */
function listed(name: string, items: unknown[]): unknown {
  if (items.length === 0) return 'null';
  return { [name]: items.length === 1 ? items[0] : items };
}

/** Nothing is null, one is an object. */
function series(name: string, items: object[] = []): unknown {
  return items.length === 0 ? null : { [name]: items.length === 1 ? items[0] : items };
}
