/** Speaks like Alpaca's Trading API: shapes of the OpenAPI types in @alpacahq/alpaca-trade-api 4.0.2, seen 2026-11-23; its client passes against it. */

import { randomUUID } from 'node:crypto';
import { BrokerStandIn, type StandInOrder, type VenueAnswer, type VenueRequest } from './broker-stand-in.ts';
import type { Json } from './json.ts';
import type { ServedSocket } from './web-socket-server.ts';

export const alpacaKeys = { apiKey: 'PKTESTKEY', apiSecret: 'alpaca-secret-of-tests' };
const stateNames = { working: 'new', filled: 'filled', cancelled: 'canceled', rejected: 'rejected', expired: 'expired' };

export class AlpacaServer extends BrokerStandIn {
  keys = alpacaKeys;
  /** The account that the keys belong to. */
  accountId = '904837e3-3b76-47ec-b432-046db621571b';
  /** The keys are not taken any more. */
  locked = false;
  /** Fills are not listed now. */
  unlisted = false;
  /** Hidden orders are not shown by their id either. */
  hidesOrders = false;
  /** Cancels are acknowledged, and nothing comes of them. */
  ignoresCancels = false;
  private readonly listening = new Set<ServedSocket>();

  /** The keys are revoked, and the account gets others. */
  rotateKeys(): void {
    this.keys = { apiKey: 'PKNEXTKEY', apiSecret: 'next-alpaca-secret-of-tests' };
  }

  override forget(): void {
    super.forget();
    this.locked = this.unlisted = this.ignoresCancels = this.hidesOrders = false;
    this.keys = alpacaKeys;
    this.accountId = '904837e3-3b76-47ec-b432-046db621571b';
  }

  protected isOrderPost({ method, path }: VenueRequest): boolean {
    return method === 'POST' && path === '/v2/orders';
  }

  protected override newId(): string {
    return randomUUID();
  }

  protected answer({ method, path, query, body, headers }: VenueRequest): VenueAnswer {
    const isKnown = headers['apca-api-key-id'] === this.keys.apiKey && headers['apca-api-secret-key'] === this.keys.apiSecret;
    // Words that differ each time, as those with a request's id do.
    const message = `request ${this.requests.length} is not authorized`;
    if (!isKnown || this.locked) return { status: 401, json: { code: 40110000, message } };
    const notFound = { status: 404, json: { code: 40410000, message: 'order not found' } };
    if (method === 'POST' && path === '/v2/orders') return this.place(JSON.parse(body));
    if (path === '/v2/orders' && method === 'GET') {
      const listed = this.orders.filter(({ state, hidden }) => state === 'working' && !hidden);
      return { status: 200, json: listed.map((order) => this.shown(order)) };
    }
    if (path === '/v2/orders:by_client_order_id') {
      const order = this.orders.find(({ ourId, hidden }) => ourId === query.get('client_order_id') && !hidden);
      return order === undefined ? notFound : { status: 200, json: this.shown(order) };
    }
    if (path.startsWith('/v2/orders/')) {
      const order = this.orders.find(({ id }) => id === path.slice('/v2/orders/'.length));
      if (order === undefined || (method === 'GET' && order.hidden && this.hidesOrders)) return notFound;
      if (method === 'GET') return { status: 200, json: this.shown(order) };
      if (order.state !== 'working')
        return { status: 422, json: { code: 42210000, message: `order is already in "${stateNames[order.state]}" state` } };
      if (this.ignoresCancels) return { status: 204 };
      order.state = 'cancelled';
      this.sendUpdate(order);
      return { status: 204 };
    }
    if (path === '/v2/account/activities/FILL' && this.unlisted) return { status: 500, json: { message: 'internal server error' } };
    if (path === '/v2/account/activities/FILL') return { status: 200, json: this.activities(query) };
    if (path === '/v2/positions') return { status: 200, json: this.positions() };
    if (path === '/v2/account') return { status: 200, json: this.account() };
    return { status: 404, json: { message: 'endpoint not found' } };
  }

  sendUpdate(order: StandInOrder): void {
    const event =
      order.state === 'working' ? (order.filled > 0 ? 'partial_fill' : 'new') : stateNames[order.state].replace('filled', 'fill');
    const data = { event, timestamp: new Date().toISOString(), order: this.shown(order) };
    // In binary frames, as the paper stream sends them.
    for (const socket of this.listening) socket.send({ stream: 'trade_updates', data }, { binary: true });
  }

  protected receive({ action, data }: Json, socket: ServedSocket): void {
    if (action === 'authenticate' || action === 'auth') {
      const status = data.key_id === this.keys.apiKey && data.secret_key === this.keys.apiSecret ? 'authorized' : 'unauthorized';
      socket.send({ stream: 'authorization', data: { status, action: 'authenticate' } }, { binary: true });
    }
    if (action === 'listen') {
      this.listening.add(socket);
      socket.send({ stream: 'listening', data: { streams: data.streams } }, { binary: true });
    }
  }

  private place(order: Json): VenueAnswer {
    if (this.orders.some(({ ourId }) => ourId === order.client_order_id))
      return { status: 422, json: { code: 40010001, message: 'client_order_id must be unique' } };
    if (typeof order.qty !== 'string') return { status: 422, json: { code: 40010001, message: 'qty is required' } };
    if (order.side === 'buy' && Number(order.qty) * Number(order.limit_price ?? 0) > this.cash)
      return { status: 403, json: { code: 40310000, message: 'insufficient buying power' } };
    const made = this.make({
      ourId: order.client_order_id ?? randomUUID(),
      symbol: order.symbol,
      side: order.side,
      type: order.type,
      timeInForce: order.time_in_force,
      quantity: Number(order.qty),
      limitPrice: order.limit_price ?? null,
      stopPrice: order.stop_price ?? null,
    });
    return { status: 200, json: this.shown(made) };
  }

  private shown(order: StandInOrder) {
    const at = new Date(order.createdAtMs).toISOString().replace('Z', '000000Z');
    const isPartly = order.state === 'working' && order.filled > 0;
    return {
      id: order.id,
      client_order_id: order.ourId,
      created_at: at,
      updated_at: at,
      submitted_at: at,
      filled_at: order.state === 'filled' ? at : null,
      canceled_at: order.state === 'cancelled' ? at : null,
      expired_at: null,
      failed_at: null,
      replaced_at: null,
      replaced_by: null,
      replaces: null,
      asset_id: 'b0b6dd9d-8b9b-48a9-ba46-b9d54906e415',
      symbol: order.symbol,
      asset_class: order.symbol.includes('/') ? 'crypto' : 'us_equity',
      notional: null,
      qty: String(order.quantity),
      filled_qty: String(order.filled),
      filled_avg_price: order.filled > 0 ? String(order.value / order.filled) : null,
      order_class: 'simple',
      order_type: order.type,
      type: order.type,
      side: order.side,
      time_in_force: order.timeInForce,
      limit_price: order.limitPrice,
      stop_price: order.stopPrice,
      status: isPartly ? 'partially_filled' : stateNames[order.state],
      extended_hours: false,
      legs: null,
      trail_percent: null,
      trail_price: null,
      hwm: null,
    };
  }

  private activities(query: URLSearchParams) {
    const after = Date.parse(query.get('after') ?? '1970-01-01T00:00:00Z');
    const all = this.fills
      .filter(({ atMs }) => atMs > after)
      .map((fill) => ({
        id: `${new Date(fill.atMs).toISOString().replace(/\D/g, '')}::${fill.id}`,
        activity_type: 'FILL',
        transaction_time: new Date(fill.atMs).toISOString(),
        type: 'fill',
        price: String(fill.price),
        qty: String(fill.quantity),
        side: fill.side,
        symbol: fill.symbol,
        leaves_qty: '0',
        order_id: fill.orderId,
        cum_qty: String(fill.quantity),
        order_status: 'filled',
      }));
    const from = all.findIndex(({ id }) => id === query.get('page_token')) + 1;
    return all.slice(from, from + Number(query.get('page_size') ?? 100));
  }

  private positions() {
    const held = new Map<string, number>();
    for (const { symbol, side, quantity } of this.fills)
      held.set(symbol, (held.get(symbol) ?? 0) + (side === 'buy' ? quantity : -quantity));
    return Array.from(held, ([symbol, quantity]) => ({
      asset_id: 'b0b6dd9d-8b9b-48a9-ba46-b9d54906e415',
      symbol: symbol.replace('/', ''),
      exchange: 'NASDAQ',
      asset_class: symbol.includes('/') ? 'crypto' : 'us_equity',
      asset_marginable: true,
      avg_entry_price: '100',
      qty: String(quantity),
      side: quantity < 0 ? 'short' : 'long',
      market_value: '0',
      cost_basis: '0',
      unrealized_pl: '0',
      unrealized_plpc: '0',
      unrealized_intraday_pl: '0',
      unrealized_intraday_plpc: '0',
      current_price: '100',
      lastday_price: '100',
      change_today: '0',
    }));
  }

  private account() {
    const cash = String(this.cash);
    return {
      id: this.accountId,
      account_number: 'PA0000000001',
      status: 'ACTIVE',
      currency: 'USD',
      cash,
      equity: cash,
      last_equity: cash,
      buying_power: cash,
      trading_blocked: false,
      account_blocked: false,
      trade_suspended_by_user: false,
      shorting_enabled: true,
    };
  }
}
