/**
 * Tradier. Requests are forms. 200 to a post means that the request was read; only a query of the order shows whether the order was accepted. Tags need
 * not be unique and lists can lack a filled order, so a post whose answer was lost is never sent again, and absence from a list proves nothing. Trades
 * have no ids: the filled quantity of an order is the only source of fills.
 */
import Value from 'typebox/value';
import type { Clock } from '../../../clock.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { parseDate, utcDay } from '../market/calendar.ts';
import type { OrderTerms } from '../orders/terms.ts';
import { decimalIn, decimalOrZero, readAnswer, readCancel, readPlaceFailure, refusalText } from './answers.ts';
import type {
  Answer,
  BarsAnswer,
  BrokerConnection,
  BrokerMode,
  LookUpAnswer,
  PlaceAnswer,
  QuoteAnswer,
  UpdateListener,
  VenueOrder,
} from './port.ts';
import {
  daysIn,
  itemsOf,
  orderOf,
  positionOf,
  quoteIn,
  slicesIn,
  TradierBalances,
  TradierEvent,
  TradierHistory,
  TradierOrder,
  type TradierOrderShape,
  TradierOrders,
  TradierPlaced,
  TradierPositions,
  TradierQuotes,
  TradierSeries,
  TradierSession,
  tagOf,
} from './tradier-shapes.ts';
import { type SocketMeaning, UpdateSocket } from './update-socket.ts';
import { VenueHttp, type VenueRequest, type VenueResponse } from './venue-http.ts';

export type TradierOptions = {
  outbound: Outbound;
  clock: Clock;
  mode: BrokerMode;
  credentials: { accessToken: string; accountId: string };
  /** Replaces Tradier's own hosts, for both modes. */
  apiUrl: string | null;
  timeoutMs: number;
  account: string;
};

const hosts = { paper: 'https://sandbox.tradier.com', live: 'https://api.tradier.com' } as const;
/** The requested interval of shorter bars, and for how many calendar days the venue keeps them (rounded down). */
const slices = {
  '1m': { interval: '1min', minutes: 1, keptDays: 20 },
  '5m': { interval: '5min', minutes: 5, keptDays: 40 },
  '1h': { interval: '15min', minutes: 15, keptDays: 40 },
} as const;
const form = 'application/x-www-form-urlencoded';

export function openTradier({ outbound, clock, mode, credentials, apiUrl, timeoutMs, account }: TradierOptions): BrokerConnection {
  const http = new VenueHttp({ outbound, clock, baseUrl: apiUrl ?? hosts[mode], timeoutMs, account, secrets: [credentials.accessToken] });
  const root = `/v1/accounts/${encodeURIComponent(credentials.accountId)}`;
  const headers = { authorization: `Bearer ${credentials.accessToken}` };
  const send = (request: VenueRequest) => http.send({ ...request, headers });
  const get = (path: string, signal?: AbortSignal) => send({ method: 'GET', path, signal });

  /** Orders of today, and those that are still open. */
  async function allOrders(signal?: AbortSignal): Promise<Answer<VenueOrder[]>> {
    const answer = readAnswer(await get(`${root}/orders?includeTags=true`, signal), TradierOrders);
    if (answer.kind !== 'known') return answer;
    const orders = itemsOf<TradierOrderShape>(answer.value.orders, 'order').map(orderOf);
    return { kind: 'known', value: orders.filter((order) => order !== null) };
  }

  async function oneOrder(brokerOrderId: string, signal?: AbortSignal): Promise<LookUpAnswer> {
    const reply = await get(`${root}/orders/${encodeURIComponent(brokerOrderId)}?includeTags=true`, signal);
    if (reply.kind === 'answered' && reply.status === 404) return { kind: 'known', value: { kind: 'absent' } };
    const answer = readAnswer(reply, TradierOrder);
    if (answer.kind !== 'known') return answer;
    const order = orderOf(answer.value.order);
    return order === null
      ? { kind: 'unknown', reason: 'Tradier answered with an order of another kind' }
      : { kind: 'known', value: { kind: 'found', order } };
  }

  return {
    venue: 'tradier',
    mode,
    afterUnknown: 'look_up',
    fillSource: 'orders',
    bodyOf,

    async place(body, signal): Promise<PlaceAnswer> {
      const reply = await send({ method: 'POST', path: `${root}/orders`, body, contentType: form, signal });
      const failure = readPlaceFailure(reply, [401]);
      if (failure !== null) return failure;
      const answered = reply as VenueResponse;
      if (!Value.Check(TradierPlaced, answered.json))
        return { kind: 'unknown', reason: 'the answer to the order has a form that is not known' };
      const { order, errors } = answered.json;
      if (order === undefined)
        return errors === undefined
          ? { kind: 'unknown', reason: 'the answer to the order names no order' }
          : { kind: 'refused', reason: refusalText(answered) };
      const brokerOrderId = String(order.id);
      // Without its answer the order is known all the same; the next poll finds its state.
      const orderAnswer = await oneOrder(brokerOrderId, signal);
      const found = orderAnswer.kind === 'known' && orderAnswer.value.kind === 'found' ? orderAnswer.value.order : null;
      const isTaken = order.status === undefined || order.status === null || order.status === 'ok';
      if (found === null && !isTaken) return { kind: 'unknown', reason: 'Tradier neither accepted nor refused the order' };
      if (found?.state === 'rejected') return { kind: 'refused', reason: found.reason ?? 'rejected by Tradier' };
      return { kind: 'accepted', brokerOrderId, order: found };
    },

    async lookUp({ ourId, brokerOrderId }, signal) {
      if (brokerOrderId !== null) return oneOrder(brokerOrderId, signal);
      const answer = await allOrders(signal);
      if (answer.kind !== 'known') return answer;
      const order = answer.value.find((one) => one.ourId === ourId);
      return { kind: 'known', value: order === undefined ? { kind: 'absent' } : { kind: 'found', order } };
    },

    order: oneOrder,

    async cancel(brokerOrderId, signal) {
      const path = `${root}/orders/${encodeURIComponent(brokerOrderId)}`;
      return readCancel(await send({ method: 'DELETE', path, signal }), [400, 404, 422]);
    },

    currentOrders: allOrders,

    async fills({ cursor, sinceMs }) {
      return { kind: 'known', value: { fills: [], cursor: cursor ?? String(sinceMs), more: false } };
    },

    async positions(signal) {
      const answer = readAnswer(await get(`${root}/positions`, signal), TradierPositions);
      if (answer.kind !== 'known') return answer;
      const positions = itemsOf<Parameters<typeof positionOf>[0]>(answer.value.positions, 'position').map(positionOf);
      return { kind: 'known', value: positions.filter((position) => position !== null) };
    },

    async account(signal) {
      const answer = readAnswer(await get(`${root}/balances`, signal), TradierBalances);
      if (answer.kind !== 'known') return answer;
      const { account_number, total_cash, total_equity, margin, pdt, cash } = answer.value.balances;
      const power = pdt?.stock_buying_power ?? margin?.stock_buying_power ?? cash?.cash_available;
      return {
        kind: 'known',
        value: {
          id: String(account_number ?? credentials.accountId),
          cash: decimalOrZero(total_cash),
          equity: decimalIn(total_equity),
          buyingPower: decimalIn(power),
          blocked: false,
        },
      };
    },

    async quote(symbol, signal): Promise<QuoteAnswer> {
      // The sandbox's quotes are a quarter of an hour old: every order would be checked against a stale price.
      if (mode === 'paper' && apiUrl === null) return { kind: 'no_data' };
      const query = new URLSearchParams({ symbols: symbol.replace('.', '/'), greeks: 'false' });
      const reply = await get(`/v1/markets/quotes?${query}`, signal);
      if (reply.kind === 'answered' && reply.status === 404) return { kind: 'no_data' };
      const answer = readAnswer(reply, TradierQuotes);
      return answer.kind === 'known' ? { kind: 'known', value: quoteIn(answer.value, symbol) } : answer;
    },

    async bars({ symbol, timeframe, start, end }, signal): Promise<BarsAnswer> {
      const venueSymbol = symbol.replace('.', '/');
      if (timeframe === '1d') {
        const query = new URLSearchParams({ symbol: venueSymbol, interval: 'daily', start, end, session_filter: 'open' });
        const answer = readAnswer(await get(`/v1/markets/history?${query}`, signal), TradierHistory);
        return answer.kind === 'known' ? { kind: 'known', value: { minutes: null, bars: daysIn(answer.value) } } : answer;
      }
      const { interval, minutes, keptDays } = slices[timeframe];
      // A partial answer would look like a complete one.
      if (parseDate(start)! <= utcDay(clock.nowMs()) - keptDays) return { kind: 'known', value: null };
      const period = { start: `${start} 00:00`, end: `${end} 23:59` };
      const query = new URLSearchParams({ symbol: venueSymbol, interval, ...period, session_filter: 'open' });
      const answer = readAnswer(await get(`/v1/markets/timesales?${query}`, signal), TradierSeries);
      return answer.kind === 'known' ? { kind: 'known', value: { minutes, bars: slicesIn(answer.value) } } : answer;
    },

    /** The venue streams only live accounts; in paper mode its refusal leaves polling. */
    updates(listener: UpdateListener) {
      const opening = async (signal: AbortSignal) => {
        const reply = await send({ method: 'POST', path: '/v1/accounts/events/session', body: '', contentType: form, signal });
        const answer = readAnswer(reply, TradierSession);
        if (answer.kind !== 'known') throw new Error('no session');
        const { url, sessionid } = answer.value.stream;
        const first = [JSON.stringify({ events: ['order'], sessionid, excludeAccounts: [] })];
        // An address that the venue names is checked like any other, unless it is the host that the operator configured.
        const configured = apiUrl !== null && URL.canParse(url) && new URL(url).host === new URL(apiUrl).host;
        return { url, configured, first };
      };
      const onMessage = (message: unknown): SocketMeaning => {
        return { kind: Value.Check(TradierEvent, message) && message.event === 'order' ? 'changed' : 'nothing' };
      };
      return new UpdateSocket({ outbound, listener, opening, meaningOf: onMessage, silenceMs: null, readyOnOpen: true });
    },
  };
}

/** The exact body of an order at this broker: see the port. */
export function bodyOf(ourId: string, terms: OrderTerms, onShort: boolean): string {
  const side = { buy: onShort ? 'buy_to_cover' : 'buy', sell: onShort ? 'sell_short' : 'sell' }[terms.side];
  const fields = new URLSearchParams({
    class: 'equity',
    symbol: terms.symbol.replace('.', '/'),
    side,
    quantity: terms.quantity,
    type: terms.orderType,
    duration: terms.timeInForce,
  });
  if (terms.limitPrice !== null) fields.set('price', terms.limitPrice);
  if (terms.stopPrice !== null) fields.set('stop', terms.stopPrice);
  fields.set('tag', tagOf(ourId));
  return fields.toString();
}
