/**
 * Coinbase Advanced Trade, live only: it has no paper venue. Refusals are in answers with status 200. A second post of the same body is
 * answered with the first order, which resolves a lost answer; an order can be found by our id only by searching the list of orders.
 */
import type { Static, TSchema } from 'typebox';
import Value from 'typebox/value';
import type { Clock } from '../../../clock.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { nanoText } from '../decimal.ts';
import { parseDate } from '../market/calendar.ts';
import type { VendorBar } from '../market/vendor-bars.ts';
import { nanoIn } from '../orders/amounts.ts';
import type { OrderTerms } from '../orders/terms.ts';
import { readAnswer, readFailure, readPlaceFailure } from './answers.ts';
import {
  CoinbaseAccounts,
  type CoinbaseBalance,
  CoinbaseBook,
  CoinbaseCancelled,
  CoinbaseCandles,
  CoinbaseFills,
  CoinbaseKeyPermissions,
  CoinbaseMessage,
  CoinbaseOrder,
  CoinbaseOrders,
  CoinbasePlaced,
  candlesIn,
  cashCurrencies,
  configurationOf,
  fillOf,
  heldOf,
  orderOf,
  positionOf,
  quoteIn,
} from './coinbase-shapes.ts';
import { coinbaseToken, readCoinbaseKey } from './coinbase-token.ts';
import type {
  Answer,
  BarsAnswer,
  BrokerConnection,
  LookUpAnswer,
  PlaceAnswer,
  QuoteAnswer,
  UpdateListener,
  VenueFills,
  VenueOrder,
} from './port.ts';
import { type SocketMeaning, socketUrl, UpdateSocket } from './update-socket.ts';
import { shownReason, VenueHttp, type VenueReply, type VenueRequest, type VenueResponse } from './venue-http.ts';

export type CoinbaseOptions = {
  outbound: Outbound;
  clock: Clock;
  credentials: { apiKey: string; apiSecret: string };
  /** Replaces Coinbase's own hosts. */
  apiUrl: string | null;
  timeoutMs: number;
  account: string;
};

const host = 'https://api.coinbase.com';
const streamUrl = 'wss://advanced-trade-ws-user.coinbase.com';
const root = '/api/v3/brokerage';
const pageSize = 250;
const maxPages = 20;
/** The last seconds are requested again each time: fills of one moment are not all listed at once, and clocks differ. */
const overlapMs = 300_000;
/** The venue sends a heartbeat every second. */
const silenceMs = 30_000;
const candles = {
  '1m': { granularity: 'ONE_MINUTE', minutes: 1 },
  '5m': { granularity: 'FIVE_MINUTE', minutes: 5 },
  '1h': { granularity: 'ONE_HOUR', minutes: 60 },
  '1d': { granularity: 'ONE_DAY', minutes: null },
} as const;
/** The venue returns at most 350, and has counted fewer in the past. */
const candlesOfPage = 300;
/** A hundred pages: older entries cannot be read in the time of a decision. */
const maxCandles = 30_000;
const minutesOfDay = 1_440;
const secondsOfDay = 86_400;
const badKey = { kind: 'credentials', reason: 'the secret is no EC private key on P-256, which Coinbase gives as ECDSA' } as const;

export function openCoinbase({ outbound, clock, credentials, apiUrl, timeoutMs, account }: CoinbaseOptions): BrokerConnection {
  const http = new VenueHttp({
    outbound,
    clock,
    baseUrl: apiUrl ?? host,
    timeoutMs,
    account,
    secrets: [credentials.apiKey, credentials.apiSecret],
  });
  const key = readCoinbaseKey(credentials.apiKey, credentials.apiSecret);
  const venueHost = new URL(http.baseUrl).host;

  /** 401 if there is no key to sign with: nothing is sent. */
  async function send(request: VenueRequest): Promise<VenueReply> {
    if (key === null) return { kind: 'answered', status: 401, json: { message: badKey.reason }, text: '', retryAfterMs: 0 };
    const path = request.path.split('?', 1)[0]!;
    const token = coinbaseToken(key, `${request.method} ${venueHost}${path}`, clock.nowMs());
    return http.send({ ...request, headers: { authorization: `Bearer ${token}` } });
  }
  const get = (path: string, signal?: AbortSignal) => send({ method: 'GET', path: `${root}${path}`, signal });
  const post = (path: string, body: string, signal?: AbortSignal) =>
    send({ method: 'POST', path: `${root}${path}`, body, contentType: 'application/json', signal });

  /** Reads pages until `isEnough`, which is called after each page. */
  async function listOrders(
    filter: Record<string, string>,
    signal?: AbortSignal,
    isEnough: (orders: VenueOrder[]) => boolean = () => false,
  ): Promise<Answer<VenueOrder[]>> {
    const orders: VenueOrder[] = [];
    return readPages('/orders/historical/batch', filter, CoinbaseOrders, orders, signal, (page) => {
      orders.push(...page.orders.map(orderOf).filter((order) => order !== null));
      return isEnough(orders);
    });
  }

  /**
   * Reads page after page until `take` returns true or the list ends; then `found` is the answer. A list that lacks a part is no answer: what
   * it lacks would look as if it did not exist.
   */
  async function readPages<S extends TSchema, T>(
    path: string,
    filter: Record<string, string>,
    schema: S,
    found: T,
    signal: AbortSignal | undefined,
    take: (page: Static<S>) => boolean,
  ): Promise<Answer<T>> {
    let cursor = '';
    for (let page = 0; page < maxPages; page++) {
      const query = new URLSearchParams({ ...filter, limit: String(pageSize), ...(cursor !== '' && { cursor }) });
      const answer = readAnswer(await get(`${path}?${query}`, signal), schema);
      if (answer.kind !== 'known') return answer;
      const { has_next, cursor: next } = answer.value as { has_next?: boolean; cursor?: string | null };
      if (take(answer.value) || has_next !== true) return { kind: 'known', value: found };
      if (next === undefined || next === null || next === '' || next === cursor)
        return { kind: 'unknown', reason: 'Coinbase has a further page and does not name it' };
      cursor = next;
    }
    return { kind: 'unknown', reason: 'the list is too long' };
  }

  async function oneOrder(brokerOrderId: string, signal?: AbortSignal): Promise<LookUpAnswer> {
    const reply = await get(`/orders/historical/${encodeURIComponent(brokerOrderId)}`, signal);
    if (reply.kind === 'answered' && reply.status === 404) return { kind: 'known', value: { kind: 'absent' } };
    const answer = readAnswer(reply, CoinbaseOrder);
    if (answer.kind !== 'known') return answer;
    const order = orderOf(answer.value.order);
    return order === null
      ? { kind: 'unknown', reason: 'Coinbase answered with an order of another kind' }
      : { kind: 'known', value: { kind: 'found', order } };
  }

  async function balances(signal?: AbortSignal): Promise<Answer<CoinbaseBalance[]>> {
    const found: CoinbaseBalance[] = [];
    return readPages('/accounts', {}, CoinbaseAccounts, found, signal, (page) => {
      found.push(...page.accounts);
      return false;
    });
  }

  /** The portfolio of the key, where the balances do not name exactly one. null: the venue does not name it. */
  async function portfolioOfKey(signal?: AbortSignal): Promise<Answer<string | null>> {
    const reply = await get('/key_permissions', signal);
    if (reply.kind === 'answered' && [403, 404].includes(reply.status)) return { kind: 'known', value: null };
    const answer = readAnswer(reply, CoinbaseKeyPermissions);
    return answer.kind === 'known' ? { kind: 'known', value: answer.value.portfolio_uuid || null } : answer;
  }

  return {
    venue: 'coinbase',
    mode: 'live',
    afterUnknown: 'repeat',
    fillSource: 'trades',
    bodyOf,

    async place(body, signal) {
      return readPlaced(await post('/orders', body, signal), body);
    },

    async lookUp({ ourId, brokerOrderId, symbol, sinceMs }, signal) {
      if (brokerOrderId !== null) return oneOrder(brokerOrderId, signal);
      const isIt = ({ ourId: id }: VenueOrder) => id === ourId;
      const filter = { product_ids: symbol, start_date: new Date(sinceMs - overlapMs).toISOString() };
      const answer = await listOrders(filter, signal, (orders) => orders.some(isIt));
      if (answer.kind !== 'known') return answer;
      const order = answer.value.find(isIt);
      return { kind: 'known', value: order === undefined ? { kind: 'absent' } : { kind: 'found', order } };
    },

    order: oneOrder,

    async cancel(brokerOrderId, signal) {
      const reply = await post('/orders/batch_cancel', JSON.stringify({ order_ids: [brokerOrderId] }), signal);
      const failure = readFailure(reply);
      if (failure !== null) return failure;
      const { json } = reply as VenueResponse;
      const result = Value.Check(CoinbaseCancelled, json) ? json.results[0] : undefined;
      if (result === undefined) return { kind: 'unknown', reason: 'the answer to the cancel has a form that is not known' };
      return result.success
        ? { kind: 'requested' }
        : { kind: 'refused', reason: shownReason(result.failure_reason ?? 'it cannot be cancelled') };
    },

    currentOrders: (signal) => listOrders({ order_status: 'OPEN' }, signal),

    async fills({ cursor, sinceMs }, signal): Promise<Answer<VenueFills>> {
      const fromMs = (cursor === null ? sinceMs : Number(cursor)) - overlapMs;
      const found: VenueFills = { fills: [], cursor: cursor ?? String(sinceMs), more: false };
      let token = '';
      for (let page = 0; page < maxPages; page++) {
        const query = new URLSearchParams({ start_sequence_timestamp: new Date(fromMs).toISOString(), limit: String(pageSize) });
        if (token !== '') query.set('cursor', token);
        const answer = readAnswer(await get(`/orders/historical/fills?${query}`, signal), CoinbaseFills);
        if (answer.kind !== 'known') return answer;
        found.fills.push(...answer.value.fills.map(fillOf).filter((fill) => fill !== null));
        const next = answer.value.cursor ?? '';
        if (next === token && answer.value.fills.length >= pageSize) break;
        if (next === '' || next === token || answer.value.fills.length === 0)
          return { kind: 'known', value: inOrder(found, clock.nowMs()) };
        token = next;
      }
      // The newest come first: if pages are missing, the cursor must not move.
      return { kind: 'unknown', reason: 'not all fills could be listed' };
    },

    async positions(signal) {
      const answer = await balances(signal);
      if (answer.kind !== 'known') return answer;
      return { kind: 'known', value: answer.value.map(positionOf).filter((position) => position !== null) };
    },

    async account(signal) {
      const answer = await balances(signal);
      if (answer.kind !== 'known') return answer;
      const cash = answer.value.filter(({ currency }) => cashCurrencies.includes(currency));
      const sum = nanoText(cash.reduce((total, balance) => total + nanoIn(heldOf(balance)), 0n));
      const named = portfolioOf(answer.value);
      const portfolio = named === null ? await portfolioOfKey(signal) : { kind: 'known' as const, value: named };
      if (portfolio.kind !== 'known') return portfolio;
      return { kind: 'known', value: { id: portfolio.value, cash: sum, equity: null, buyingPower: null, blocked: false } };
    },

    /** The quote comes from the order book: a product has only the last trade, without time and sides. */
    async quote(symbol, signal): Promise<QuoteAnswer> {
      const query = new URLSearchParams({ product_id: symbol, limit: '1' });
      const reply = await get(`/product_book?${query}`, signal);
      // A server that replaces the vendor's may serve orders only.
      if (reply.kind === 'answered' && reply.status === 404) return apiUrl === null ? { kind: 'known', value: null } : { kind: 'no_data' };
      const answer = readAnswer(reply, CoinbaseBook);
      return answer.kind === 'known' ? { kind: 'known', value: quoteIn(answer.value) } : answer;
    },

    async bars({ symbol, timeframe, start, end }, signal): Promise<BarsAnswer> {
      const { granularity, minutes } = candles[timeframe];
      const stepS = (minutes ?? minutesOfDay) * 60;
      const nowS = Math.floor(clock.nowMs() / 1_000);
      if ((nowS - parseDate(start)! * secondsOfDay) / stepS > maxCandles) return { kind: 'known', value: null };
      const endS = Math.min((parseDate(end)! + 1) * secondsOfDay - 1, nowS);
      const bars: VendorBar[] = [];
      for (let fromS = parseDate(start)! * secondsOfDay; fromS <= endS; fromS += candlesOfPage * stepS) {
        const period = { start: String(fromS), end: String(Math.min(endS, fromS + candlesOfPage * stepS - 1)) };
        const query = new URLSearchParams({ ...period, granularity, limit: String(candlesOfPage) });
        const answer = readAnswer(await get(`/products/${encodeURIComponent(symbol)}/candles?${query}`, signal), CoinbaseCandles);
        if (answer.kind !== 'known') return answer;
        const page = candlesIn(answer.value).sort((a, b) => a.timeMs - b.timeMs);
        // A page may contain a bar of the neighbouring page.
        bars.push(...page.filter(({ timeMs }) => timeMs >= fromS * 1_000 && timeMs <= Number(period.end) * 1_000));
      }
      return { kind: 'known', value: { minutes, bars } };
    },

    updates(listener: UpdateListener) {
      const opening = async () => {
        if (key === null) throw new Error(badKey.reason);
        // Each message has its own token.
        const subscribe = (channel: string) => JSON.stringify({ type: 'subscribe', channel, jwt: coinbaseToken(key, null, clock.nowMs()) });
        const url = apiUrl === null ? streamUrl : socketUrl(apiUrl, '/');
        return { url, configured: true, first: [subscribe('heartbeats'), subscribe('user')] };
      };
      return new UpdateSocket({ outbound, listener, opening, meaningOf, silenceMs });
    },
  };
}

/** The exact body of an order at this broker: see the port. */
export function bodyOf(ourId: string, terms: OrderTerms): string {
  return JSON.stringify({
    client_order_id: ourId,
    product_id: terms.symbol,
    side: terms.side.toUpperCase(),
    order_configuration: configurationOf(terms),
  });
}

function readPlaced(reply: VenueReply, body: string): PlaceAnswer {
  const failure = readPlaceFailure(reply, [401, 403]);
  if (failure !== null) return failure;
  const { json } = reply as VenueResponse;
  if (!Value.Check(CoinbasePlaced, json)) return { kind: 'unknown', reason: 'the answer to the order has a form that is not known' };
  const { success, success_response: made, error_response: refused } = json;
  if (!success) {
    const codes = [refused?.error, refused?.new_order_failure_reason, refused?.preview_failure_reason];
    if (codes.includes('DUPLICATE_CLIENT_ORDER_ID')) return { kind: 'exists' };
    const reason = [refused?.message, refused?.error_details, ...codes.toReversed()].find(
      (text) => text !== undefined && text !== null && text !== '',
    );
    return { kind: 'refused', reason: shownReason(reason ?? 'Coinbase refused the order') };
  }
  const brokerOrderId = made?.order_id ?? json.order_id ?? '';
  const meant = JSON.parse(body) as { client_order_id: string; product_id: string; side: string };
  const isOurs =
    (made?.client_order_id ?? meant.client_order_id) === meant.client_order_id &&
    (made?.product_id ?? meant.product_id) === meant.product_id &&
    (made?.side ?? meant.side) === meant.side;
  if (brokerOrderId === '' || !isOurs) return { kind: 'unknown', reason: 'Coinbase answered with another order than was sent' };
  return { kind: 'accepted', brokerOrderId, order: null };
}

/** A key reads the balances of one portfolio; null: they do not name exactly one. */
function portfolioOf(balances: readonly CoinbaseBalance[]): string | null {
  const ids = new Set(balances.flatMap(({ retail_portfolio_id: id }) => id || []));
  return ids.size === 1 ? [...ids][0]! : null;
}

/** Ascending, as all our lists; the venue's lists are descending. */
function inOrder(found: VenueFills, nowMs: number): VenueFills {
  const fills = found.fills.toSorted((a, b) => a.atMs - b.atMs);
  // A cursor in the future would leave out the fills until then.
  const newestMs = Math.min(fills.at(-1)?.atMs ?? 0, nowMs);
  return { ...found, fills, cursor: newestMs > Number(found.cursor) ? String(newestMs) : found.cursor };
}

function meaningOf(message: unknown): SocketMeaning {
  if (!Value.Check(CoinbaseMessage, message)) return { kind: 'nothing' };
  if (message.type === 'error') return { kind: 'refused', reason: 'Coinbase refused the stream' };
  if (message.channel === 'subscriptions') return { kind: 'ready' };
  return { kind: message.channel === 'user' ? 'changed' : 'nothing' };
}
