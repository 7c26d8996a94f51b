/** A trading account of the embedded paper broker on a real runtime, with a market that the test sets. */
import { noVenue, tradingActors } from '../../src/domains/trading/actors.ts';
import { type BookEntry, foldBook } from '../../src/domains/trading/book.ts';
import { parseSymbol } from '../../src/domains/trading/market/symbol.ts';
import type { ReplaceRequest } from '../../src/domains/trading/orders/replace.ts';
import type { OrderTerms } from '../../src/domains/trading/orders/terms.ts';
import type { AccountMarket } from '../../src/domains/trading/trading-account/market.ts';
import {
  defaultLimits,
  type PlaceOrder,
  type TradingLimits,
  tradingAccount,
  tradingAccountIdOf,
  tradingOrderIdOf,
} from '../../src/domains/trading/trading-account/messages.ts';
import { tradingOrder } from '../../src/domains/trading/trading-order/messages.ts';
import { newId } from '../../src/ids.ts';
import type { TestRuntime } from './runtime.ts';

const embedded = { brokerKey: 'embedded', brokerName: 'embedded', orderMode: 'paper', filledBy: 'embedded' } as const;
const timing = { lookUpMs: 60_000, reconcileMs: 60_000 };

export const paperActors = (market: AccountMarket) => tradingActors({ market, venue: noVenue, timing, timeoutMs: 10_000 });

export type Wanted = Partial<OrderTerms> & { symbol: string; side: 'buy' | 'sell'; quantity: string };

export class PaperAccount {
  readonly id: string;
  readonly accountId = newId('acct_', null);
  limits: TradingLimits = { ...defaultLimits, maxPositionSize: '1000000', dailyLossLimit: '1000000' };
  private readonly world: TestRuntime;
  private readonly market: Pick<AccountMarket, 'quoteNow'>;

  constructor(world: TestRuntime, market: Pick<AccountMarket, 'quoteNow'>, mode: 'live' | 'test' = 'live') {
    this.world = world;
    this.market = market;
    this.id = tradingAccountIdOf({ accountId: this.accountId, mode });
  }

  terms({ symbol, ...over }: Wanted): OrderTerms {
    const { assetClass } = parseSymbol(symbol)!;
    const orderType = over.orderType ?? (over.stopPrice ? (over.limitPrice ? 'stop_limit' : 'stop') : over.limitPrice ? 'limit' : 'market');
    return {
      symbol,
      assetClass,
      limitPrice: null,
      stopPrice: null,
      timeInForce: assetClass === 'crypto' ? 'gtc' : 'day',
      ...over,
      orderType,
    };
  }

  input(wanted: Wanted, over: Partial<PlaceOrder> = {}): PlaceOrder {
    const quote = this.market.quoteNow(wanted.symbol)!;
    return { ...embedded, orderId: this.newOrderId(), clientOrderId: null, terms: this.terms(wanted), quote, limits: this.limits, ...over };
  }

  newOrderId() {
    return tradingOrderIdOf(this.id, newId('ord_', this.accountId));
  }

  place(wanted: Wanted, over: Partial<PlaceOrder> = {}) {
    return this.world.actors.ask(tradingAccount, this.id, 'place', this.input(wanted, over));
  }

  /** A position with legs; answers with the parent and the legs in the order named. */
  bracket(wanted: Wanted, legs: { stop_loss?: string; take_profit?: string }) {
    const side = wanted.side === 'buy' ? 'sell' : 'buy';
    const of = { ...wanted, side, timeInForce: 'gtc' } as const;
    const all = Object.entries(legs).map(([role, price]) => {
      const terms = this.terms(role === 'stop_loss' ? { ...of, stopPrice: price, limitPrice: null } : { ...of, limitPrice: price });
      return { orderId: this.newOrderId(), role: role as 'stop_loss' | 'take_profit', terms };
    });
    return this.world.actors.ask(tradingAccount, this.id, 'openPosition', { ...this.input(wanted), legs: all });
  }

  async replace(orderId: string, change: ReplaceRequest, clientOrderId: string | null = null) {
    const order = await this.world.actors.query(tradingOrder, orderId, 'get', null);
    const quote = this.market.quoteNow(order!.symbol)!;
    const input = { orderId, newOrderId: this.newOrderId(), clientOrderId, change, quote, limits: this.limits };
    return this.world.actors.ask(tradingAccount, this.id, 'replace', input);
  }

  cancel(orderId: string) {
    return this.world.actors.ask(tradingAccount, this.id, 'cancel', { orderId });
  }

  /** Marks until nothing is left to do. Returns whether anything changed. */
  async mark(): Promise<boolean> {
    for (let changed = false; ; ) {
      const marked = await this.world.actors.ask(tradingAccount, this.id, 'mark', {});
      changed ||= marked.changed;
      if (!marked.more) return changed;
    }
  }

  async order(orderId: string) {
    const { status, quantity, state } = (await this.world.actors.query(tradingOrder, orderId, 'get', null))!;
    return { status, quantity, filled: state.fills.quantity };
  }

  state() {
    return this.world.actors.query(tradingAccount, this.id, 'get', null);
  }

  summary() {
    return this.world.actors.query(tradingAccount, this.id, 'summary', { brokerKey: 'embedded' });
  }

  async held(symbol: string): Promise<string> {
    return (await this.state())?.books.embedded?.book.positions[symbol]?.quantity ?? '0';
  }

  fills() {
    return this.world.sql('select * from trading_fill where trading_account_id = $1 order by seq', [this.id]);
  }

  orders() {
    return this.world.sql('select * from trading_order where account_id = $1 order by id', [this.accountId]);
  }

  /** A book as the journal says, the numbers of all its entries, and what was paid in (units of 10^-18). */
  async refolded(brokerKey = 'embedded') {
    const entries = await this.world.sql('select seq, broker_key, entry from trading_entry where trading_account_id = $1', [this.id]);
    const fills = (await this.fills()).map((fill) => ({ ...fill, entry: { kind: 'fill', ...fill } }));
    const all = [...entries, ...fills].sort((a, b) => a.seq - b.seq);
    const own = all.filter(({ broker_key }) => broker_key === brokerKey).map(({ entry }) => entry as BookEntry);
    const paidIn = foldBook(own.filter(({ kind }) => kind === 'deposit' || kind === 'adopted_cash')).cash;
    return { book: foldBook(own), seqs: all.map(({ seq }) => seq as number), paidIn: BigInt(paidIn) };
  }

  /** Types of the account's events, in order. */
  events(prefix = ''): string[] {
    return this.world.events
      .filter(({ accountId, type }) => accountId === this.accountId && type.startsWith(prefix))
      .map(({ type }) => type);
  }
}
