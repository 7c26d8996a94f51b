/**
 * Speaks like Coinbase Advanced Trade. Read from docs per endpoint and the bodies recorded in nautechsystems/nautilus_trader at a95c804
 * (crates/adapters/coinbase/test_data, `http_candles.json` too), seen 2026-11-23. Tokens are verified.
 */

import { generateKeyPairSync, type KeyObject, randomUUID, verify } from 'node:crypto';
import { BrokerStandIn, type StandInOrder, type VenueAnswer, type VenueRequest } from './broker-stand-in.ts';
import type { Json } from './json.ts';
import type { ServedSocket } from './web-socket-server.ts';

const firstPair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
export const coinbaseKeys = keysOf('11111111', firstPair);
const root = '/api/v3/brokerage';
const stateNames = { working: 'OPEN', filled: 'FILLED', cancelled: 'CANCELLED', rejected: 'FAILED', expired: 'EXPIRED' };

export class CoinbaseServer extends BrokerStandIn {
  keys = coinbaseKeys;
  private pair = firstPair;
  /** The `error` that posts are answered with, in a 200. */
  refusesWith: string | null = null;
  /** Balances of coins. */
  readonly coins = new Map<string, number>();
  /** Best bid and ask by product; null: this server has no market data. */
  books: Map<string, { bid: [price: string, size: string] | null; ask: [price: string, size: string] | null; atMs: number }> | null = null;
  /** By product and granularity: `BTC-USD ONE_HOUR`; ascending by `start`, in seconds. */
  readonly candles = new Map<string, { start: string; open: string; high: string; low: string; close: string; volume: string }[]>();
  /** Tokens seen: none may come twice. */
  private readonly tokens = new Set<string>();
  private readonly bodies = new Map<string, StandInOrder>();
  private readonly listening = new Set<ServedSocket>();

  /** The key is revoked, and the portfolio gets another. */
  rotateKeys(): void {
    this.pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    this.keys = keysOf('22222222', this.pair);
  }

  override forget(): void {
    super.forget();
    this.keys = coinbaseKeys;
    this.pair = firstPair;
    this.bodies.clear();
    this.coins.clear();
    this.refusesWith = null;
    this.books = null;
    this.candles.clear();
  }

  override fill(order: StandInOrder, quantity: number, price: number): void {
    const coin = order.symbol.split('-')[0]!;
    const sign = order.side === 'buy' ? 1 : -1;
    this.coins.set(coin, Number(((this.coins.get(coin) ?? 0) + sign * quantity).toFixed(9)));
    super.fill(order, quantity, price);
  }

  protected isOrderPost({ method, path }: VenueRequest): boolean {
    return method === 'POST' && path === `${root}/orders`;
  }

  protected override newId(): string {
    return randomUUID();
  }

  protected answer(request: VenueRequest): VenueAnswer {
    const { method, path, query, body } = request;
    if (!this.isSigned(request)) return { status: 401, text: 'Unauthorized' };
    const rest = path.slice(root.length);
    if (method === 'POST' && rest === '/orders') return { status: 200, json: this.place(JSON.parse(body), body) };
    if (method === 'POST' && rest === '/orders/batch_cancel')
      return { status: 200, json: { results: JSON.parse(body).order_ids.map((id: string) => this.cancel(id)) } };
    if (rest === '/orders/historical/batch') {
      const isWanted = (order: StandInOrder) => !order.hidden && (query.get('order_status') !== 'OPEN' || order.state === 'working');
      return {
        status: 200,
        json: { orders: this.orders.filter(isWanted).map((order) => this.shown(order)), sequence: '0', has_next: false, cursor: '' },
      };
    }
    if (rest === '/orders/historical/fills') return { status: 200, json: { fills: this.shownFills(), cursor: '' } };
    if (rest.startsWith('/orders/historical/')) {
      const order = this.orders.find(({ id }) => id === rest.slice('/orders/historical/'.length));
      return order === undefined
        ? { status: 404, json: { error: 'NOT_FOUND', message: 'order not found' } }
        : { status: 200, json: { order: this.shown(order) } };
    }
    const book = rest === '/product_book' ? this.books?.get(query.get('product_id')!) : undefined;
    if (book !== undefined) return { status: 200, json: shownBook(query.get('product_id')!, book) };
    const [, product] = /^\/products\/([A-Z-]+)\/candles$/.exec(rest) ?? [];
    if (product !== undefined) return this.listCandles(product, query);
    if (rest === '/accounts') return { status: 200, json: { accounts: this.accounts(), has_next: false, cursor: '', size: 1 } };
    return { status: 404, json: { error: 'NOT_FOUND' } };
  }

  /** The newest first; both ends are included. */
  private listCandles(product: string, query: URLSearchParams): VenueAnswer {
    const [startS, endS, limit] = ['start', 'end', 'limit'].map((name) => Number(query.get(name)));
    const all = this.candles.get(`${product} ${query.get('granularity')}`) ?? [];
    const found = all.filter(({ start }) => Number(start) >= startS! && Number(start) <= endS!).toReversed();
    if (limit! > 350) return { status: 400, json: { error: 'INVALID_ARGUMENT', message: 'limit must be 350 at most' } };
    return { status: 200, json: { candles: found.slice(0, limit) } };
  }

  /** Cumulative, without ids of trades. */
  sendUpdate(order: StandInOrder): void {
    const orderUpdate = {
      order_id: order.id,
      client_order_id: order.ourId,
      cumulative_quantity: String(order.filled),
      leaves_quantity: String(order.quantity - order.filled),
      avg_price: '0',
      status: stateNames[order.state],
      product_id: order.symbol,
    };
    for (const socket of this.listening)
      socket.send({
        channel: 'user',
        client_id: '',
        timestamp: new Date().toISOString(),
        sequence_num: 1,
        events: [{ type: 'update', orders: [orderUpdate] }],
      });
  }

  protected receive({ type, channel, jwt }: Json, socket: ServedSocket): void {
    if (type !== 'subscribe' || this.claimsOf(jwt) === null) return socket.send({ type: 'error', message: 'authentication failure' });
    if (channel === 'user') this.listening.add(socket);
    socket.send({
      channel: 'subscriptions',
      client_id: '',
      timestamp: new Date().toISOString(),
      sequence_num: 0,
      events: [{ subscriptions: { [channel]: [] } }],
    });
  }

  private isSigned({ method, path, headers }: VenueRequest): boolean {
    const claims = this.claimsOf((headers.authorization ?? '').replace('Bearer ', ''));
    return claims?.uri === `${method} ${headers.host}${path}`;
  }

  private claimsOf(token: string): Json {
    const [header, claims, signature] = token.split('.');
    if (signature === undefined || this.tokens.has(token)) return null;
    this.tokens.add(token);
    const key = { key: this.pair.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))) return null;
    const read = JSON.parse(Buffer.from(claims!, 'base64url').toString());
    const nowS = Date.now() / 1_000;
    return read.sub === this.keys.apiKey && read.iss === 'cdp' && read.exp - read.nbf <= 120 && read.nbf <= nowS + 5 && read.exp > nowS
      ? read
      : null;
  }

  private place(order: Json, body: string): unknown {
    if (this.refusesWith !== null) {
      const error_response = {
        error: this.refusesWith,
        message: 'the order was refused',
        error_details: '',
        new_order_failure_reason: this.refusesWith,
      };
      return { success: false, failure_reason: 'UNKNOWN_FAILURE_REASON', order_id: '', error_response };
    }
    const [[form, fields]] = Object.entries<Json>(order.order_configuration) as [[string, Json]];
    const made =
      this.bodies.get(body) ??
      this.make({
        ourId: order.client_order_id,
        symbol: order.product_id,
        side: order.side.toLowerCase(),
        type: form,
        timeInForce: '',
        quantity: Number(fields.base_size),
        limitPrice: fields.limit_price ?? null,
        stopPrice: fields.stop_price ?? null,
      });
    this.bodies.set(body, made);
    const success_response = { order_id: made.id, product_id: made.symbol, side: made.side.toUpperCase(), client_order_id: made.ourId };
    return { success: true, failure_reason: 'UNKNOWN_FAILURE_REASON', order_id: made.id, success_response };
  }

  private cancel(id: string): unknown {
    const order = this.orders.find((one) => one.id === id);
    if (order?.state !== 'working') return { success: false, failure_reason: 'UNKNOWN_CANCEL_ORDER', order_id: id };
    order.state = 'cancelled';
    this.sendUpdate(order);
    return { success: true, failure_reason: 'UNKNOWN_CANCEL_FAILURE_REASON', order_id: id };
  }

  private shown(order: StandInOrder) {
    const { id, symbol, ourId, side, state, quantity, filled, value, limitPrice, stopPrice } = order;
    return {
      order_id: id,
      product_id: symbol,
      user_id: '2222-000000-000000',
      order_configuration: {
        [order.type]: {
          base_size: String(quantity),
          ...(limitPrice && { limit_price: limitPrice }),
          ...(stopPrice && { stop_price: stopPrice }),
        },
      },
      side: side.toUpperCase(),
      client_order_id: ourId,
      status: stateNames[state],
      time_in_force: 'GOOD_UNTIL_CANCELLED',
      created_time: new Date(order.createdAtMs).toISOString(),
      filled_size: filled === 0 ? '' : String(filled),
      average_filled_price: filled === 0 ? '' : String(value / filled),
      total_fees: '',
      reject_reason: order.reason ?? '',
      last_fill_time: null,
      product_type: 'SPOT',
    };
  }

  /** The newest first. */
  private shownFills() {
    return this.fills.toReversed().map(({ id, orderId, symbol, side, quantity, price, atMs }) => ({
      entry_id: randomUUID(),
      trade_id: id,
      order_id: orderId,
      trade_time: new Date(atMs).toISOString(),
      trade_type: 'FILL',
      price: String(price),
      size: String(quantity),
      commission: '0.5',
      product_id: symbol,
      sequence_timestamp: new Date(atMs).toISOString(),
      liquidity_indicator: 'TAKER',
      size_in_quote: false,
      side: side.toUpperCase(),
    }));
  }

  private accounts() {
    const account = (currency: string, value: number, type: string) => ({
      uuid: randomUUID(),
      name: `${currency} Wallet`,
      currency,
      available_balance: { value: String(value), currency },
      hold: { value: '0', currency },
      type,
      retail_portfolio_id: 'b1a5d3f0-0000-4000-8000-000000000001',
    });
    return [
      account('USD', this.cash - 1_000, 'ACCOUNT_TYPE_FIAT'),
      account('USDC', 1_000, 'ACCOUNT_TYPE_CRYPTO'),
      ...Array.from(this.coins, ([coin, held]) => account(coin, held, 'ACCOUNT_TYPE_CRYPTO')),
    ];
  }
}

function keysOf(id: string, { privateKey }: { privateKey: KeyObject }) {
  return { apiKey: `organizations/00000000/apiKeys/${id}`, apiSecret: privateKey.export({ type: 'sec1', format: 'pem' }).toString() };
}

function shownBook(product: string, { bid, ask, atMs }: NonNullable<ReturnType<NonNullable<CoinbaseServer['books']>['get']>>) {
  const levels = (side: [string, string] | null) => (side === null ? [] : [{ price: side[0], size: side[1] }]);
  const pricebook = { product_id: product, bids: levels(bid), asks: levels(ask), time: new Date(atMs).toISOString() };
  return { pricebook, last: '', mid_market: '', spread_bps: '', spread_absolute: '' };
}
