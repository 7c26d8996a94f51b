/**
 * Alpaca. Client order ids are unique for ever, so an order whose post was lost is found by its id, and the same body may be sent again. A 422 about the
 * client order id means that the order is there. 403 is a refusal of the order (no money, no shorting), not of the credentials; those are 401.
 */

import Value from 'typebox/value';
import type { Clock } from '../../../clock.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { OrderTerms } from '../orders/terms.ts';
import {
  AlpacaAccount,
  AlpacaAuthorized,
  AlpacaFills,
  AlpacaFrame,
  AlpacaOrder,
  AlpacaOrders,
  AlpacaPositions,
  fillOf,
  orderOf,
  positionOf,
} from './alpaca-shapes.ts';
import { decimalIn, decimalOrZero, readAnswer, readCancel, readPlaceFailure } from './answers.ts';
import type { Answer, BrokerConnection, BrokerMode, LookUpAnswer, PlaceAnswer, UpdateListener, VenueFills, VenueOrder } from './port.ts';
import { type SocketMeaning, socketUrl, UpdateSocket } from './update-socket.ts';
import { VenueHttp, type VenueReply, type VenueRequest } from './venue-http.ts';

export type AlpacaOptions = {
  outbound: Outbound;
  clock: Clock;
  mode: BrokerMode;
  credentials: { apiKey: string; apiSecret: string };
  /** Replaces Alpaca's own hosts, for both modes. */
  apiUrl: string | null;
  timeoutMs: number;
  account: string;
};

const hosts = { paper: 'https://paper-api.alpaca.markets', live: 'https://api.alpaca.markets' } as const;
const pageSize = 100;
const ordersPageSize = 500;
const maxPages = 20;
/** More than the fills of `overlapMs`: otherwise each round would read the same ones. */
const maxFillPages = 100;
/** The last seconds are requested again each time: fills of one moment are not all listed at once. */
const overlapMs = 300_000;
/** "Unprocessable"; also the answer to a client order id that was used before. */
const unprocessable = 40_010_001;

export function openAlpaca({ outbound, clock, mode, credentials, apiUrl, timeoutMs, account }: AlpacaOptions): BrokerConnection {
  const { apiKey, apiSecret } = credentials;
  const http = new VenueHttp({ outbound, clock, baseUrl: apiUrl ?? hosts[mode], timeoutMs, account, secrets: [apiKey, apiSecret] });
  const headers = { 'apca-api-key-id': apiKey, 'apca-api-secret-key': apiSecret };
  const send = (request: VenueRequest) => http.send({ ...request, headers });
  const get = (path: string, signal?: AbortSignal) => send({ method: 'GET', path, signal });

  async function orderAt(path: string, signal?: AbortSignal): Promise<LookUpAnswer> {
    const reply = await get(path, signal);
    if (reply.kind === 'answered' && reply.status === 404) return { kind: 'known', value: { kind: 'absent' } };
    const answer = readAnswer(reply, AlpacaOrder);
    if (answer.kind !== 'known') return answer;
    const order = orderOf(answer.value);
    return order === null
      ? { kind: 'unknown', reason: 'Alpaca answered with an order of another kind' }
      : { kind: 'known', value: { kind: 'found', order } };
  }

  async function openOrders(signal?: AbortSignal): Promise<Answer<VenueOrder[]>> {
    const orders = new Map<string, VenueOrder>();
    // Also those of other kinds, which fill pages like the others.
    const listed = new Set<string>();
    let after = '';
    for (let page = 0; page < maxPages; page++) {
      const query = new URLSearchParams({ status: 'open', limit: String(ordersPageSize), direction: 'asc', nested: 'false' });
      if (after !== '') query.set('after', after);
      const answer = readAnswer(await get(`/v2/orders?${query}`, signal), AlpacaOrders);
      if (answer.kind !== 'known') return answer;
      const known = listed.size;
      for (const { id } of answer.value) listed.add(id);
      for (const order of answer.value.map(orderOf)) if (order !== null) orders.set(order.brokerOrderId, order);
      if (answer.value.length < ordersPageSize) return { kind: 'known', value: [...orders.values()] };
      after = answer.value.at(-1)?.submitted_at ?? '';
      if (listed.size === known || after === '') return { kind: 'unknown', reason: 'the pages of the open orders do not go on' };
    }
    return { kind: 'unknown', reason: 'there are too many open orders to list' };
  }

  return {
    venue: 'alpaca',
    mode,
    afterUnknown: 'look_up_then_repeat',
    fillSource: 'trades',
    bodyOf,

    async place(body, signal) {
      return readPlaced(await send({ method: 'POST', path: '/v2/orders', body, contentType: 'application/json', signal }));
    },

    lookUp({ ourId }, signal) {
      return orderAt(`/v2/orders:by_client_order_id?client_order_id=${encodeURIComponent(ourId)}`, signal);
    },

    order(brokerOrderId, signal) {
      return orderAt(`/v2/orders/${encodeURIComponent(brokerOrderId)}`, signal);
    },

    async cancel(brokerOrderId, signal) {
      return readCancel(await send({ method: 'DELETE', path: `/v2/orders/${encodeURIComponent(brokerOrderId)}`, signal }), [404, 422]);
    },

    currentOrders: openOrders,

    async fills({ cursor, sinceMs }, signal): Promise<Answer<VenueFills>> {
      const fromMs = cursor === null ? sinceMs : Number(cursor) - overlapMs;
      const found: VenueFills = { fills: [], cursor: cursor ?? String(sinceMs), more: false };
      let token = '';
      for (let page = 0; page < maxFillPages; page++) {
        const query = new URLSearchParams({ after: new Date(fromMs).toISOString(), direction: 'asc', page_size: String(pageSize) });
        if (token !== '') query.set('page_token', token);
        const answer = readAnswer(await get(`/v2/account/activities/FILL?${query}`, signal), AlpacaFills);
        if (answer.kind !== 'known') return answer;
        for (const fill of answer.value.map(fillOf)) {
          if (fill === null) continue;
          found.fills.push(fill);
          // A cursor in the future would leave out the fills until then.
          if (fill.atMs > Number(found.cursor)) found.cursor = String(Math.max(Number(found.cursor), Math.min(fill.atMs, clock.nowMs())));
        }
        const last = answer.value.at(-1)?.id ?? '';
        if (answer.value.length < pageSize || last === token) return { kind: 'known', value: found };
        token = last;
      }
      return { kind: 'known', value: { ...found, more: true } };
    },

    async positions(signal) {
      const answer = readAnswer(await get('/v2/positions', signal), AlpacaPositions);
      if (answer.kind !== 'known') return answer;
      return { kind: 'known', value: answer.value.map(positionOf).filter((position) => position !== null) };
    },

    async account(signal) {
      const answer = readAnswer(await get('/v2/account', signal), AlpacaAccount);
      if (answer.kind !== 'known') return answer;
      const { id, cash, equity, buying_power, trading_blocked, account_blocked, trade_suspended_by_user } = answer.value;
      const blocked = [trading_blocked, account_blocked, trade_suspended_by_user].includes(true);
      return {
        kind: 'known',
        value: { id: id ?? null, cash: decimalOrZero(cash), equity: decimalIn(equity), buyingPower: decimalIn(buying_power), blocked },
      };
    },

    updates(listener: UpdateListener) {
      const greeting = JSON.stringify({ action: 'authenticate', data: { key_id: apiKey, secret_key: apiSecret } });
      const opening = async () => ({ url: socketUrl(http.baseUrl, '/stream'), configured: true, first: [greeting] });
      return new UpdateSocket({ outbound, listener, opening, meaningOf, silenceMs: null });
    },
  };
}

/** The exact body of an order at this broker: see the port. */
export function bodyOf(ourId: string, terms: OrderTerms): string {
  return JSON.stringify({
    symbol: terms.symbol.replace('-', '/'),
    qty: terms.quantity,
    side: terms.side,
    type: terms.orderType,
    time_in_force: terms.timeInForce,
    ...(terms.limitPrice !== null && { limit_price: terms.limitPrice }),
    ...(terms.stopPrice !== null && { stop_price: terms.stopPrice }),
    client_order_id: ourId,
  });
}

function readPlaced(reply: VenueReply): PlaceAnswer {
  if (reply.kind === 'answered' && reply.status === 422 && isUsedId(reply.json)) return { kind: 'exists' };
  const failure = readPlaceFailure(reply, [401]);
  if (failure !== null) return failure;
  const answer = readAnswer(reply, AlpacaOrder, [401]);
  if (answer.kind !== 'known') return { kind: 'unknown', reason: 'the answer to the order has a form that is not known' };
  return { kind: 'accepted', brokerOrderId: answer.value.id, order: orderOf(answer.value) };
}

/** The status code alone is also used for faults of other fields. */
function isUsedId(json: unknown): boolean {
  const { code, message } = (json ?? {}) as { code?: unknown; message?: unknown };
  return code === unprocessable && (typeof message !== 'string' || message === '' || /client[ _-]?order[ _-]?id/i.test(message));
}

const listen = JSON.stringify({ action: 'listen', data: { streams: ['trade_updates'] } });

function meaningOf(message: unknown): SocketMeaning {
  if (!Value.Check(AlpacaFrame, message)) return { kind: 'nothing' };
  const { stream } = message;
  if (stream === 'authorization')
    return Value.Check(AlpacaAuthorized, message)
      ? { kind: 'say', say: [listen] }
      : { kind: 'refused', reason: 'Alpaca refused the stream' };
  if (stream === 'listening') return { kind: 'ready' };
  return { kind: stream === 'trade_updates' ? 'changed' : 'nothing' };
}
