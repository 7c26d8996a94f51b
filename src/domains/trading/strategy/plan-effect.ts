/** Collects the input of a plan: prices, the strategy's own books and orders, and the account's available limits. */

import type { AccountMode } from '../../../mode.ts';
import { accountSettings, tradingLimitsOf } from '../../accounts/contract.ts';
import { type Book, emptyBook, equityOf, heldQuantity } from '../book.ts';
import { type BrokerName, capabilitiesOf } from '../brokers/capabilities.ts';
import { divideHalfEven, nanoOf, one, roundedToNano } from '../decimal.ts';
import type { Quote } from '../market/port.ts';
import { type AssetClass, parseSymbol } from '../market/symbol.ts';
import { nanoIn, nanoPrice } from '../orders/amounts.ts';
import type { OrderEntryParts } from '../orders/order-entry.ts';
import { defaultTimeInForce, signOf } from '../orders/terms.ts';
import type { OpenEntry, TradingAccountRow } from '../trading-account/entity.ts';
import { type AccountSummary, tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import type { Plan, Planned } from './messages.ts';
import { type PlannedSymbol, planSymbols, type Sizing } from './plan.ts';

type OpenOrder = OpenEntry & { orderId: string };
/** The holdings at one broker: of the account, and of the strategy's orders. */
type Holdings = { brokerKey: string; summary: AccountSummary; own: Book; account: Book; open: OpenOrder[] };

/** @param nowMs the market's clock */
export async function planRun(orderEntry: OrderEntryParts, strategyId: string, input: Plan, nowMs: () => number): Promise<Planned> {
  const { accountId, mode, capital, targets, only } = input;
  const owner: AccountMode = { accountId, mode };
  const brokers = await holdingsOf(orderEntry, owner, strategyId, Object.values(input.brokers));
  const held = [...brokers.values()].flatMap(({ own }) => Object.keys(own.positions));
  // Symbols that an earlier version has bought and this one does not trade are sold.
  const all = [...new Set([...input.symbols, ...held])].filter((symbol) => only?.includes(symbol) ?? true);
  const [quotes, settings] = await Promise.all([
    quotesOf(orderEntry, owner, [...new Set([...all, ...held])], input.brokers),
    orderEntry.actors.query(accountSettings, accountId, 'get', null),
  ]);
  const limits = tradingLimitsOf(settings);
  const results = capital === null ? null : resultsOf(brokers.values(), quotes);
  const planned: Planned = { symbols: [], brokers: {}, skipped: {}, nowMs: nowMs() };
  const symbolsOf = new Map<Holdings, PlannedSymbol[]>();
  for (const symbol of all) {
    const { assetClass } = parseSymbol(symbol)!;
    const at = brokers.get(input.brokers[assetClass] ?? '');
    const quote = quotes.get(symbol);
    const weight = input.symbols.includes(symbol) ? input.weights[symbol] : 0;
    // It had no bar yet.
    if (weight === undefined) continue;
    if (at === undefined) planned.skipped[symbol] = 'the broker connection is gone';
    else if (quote == null) planned.skipped[symbol] = 'there is no price now';
    if (at === undefined || quote == null) continue;
    planned.brokers[symbol] = at.brokerKey;
    const rows = symbolsOf.get(at) ?? [];
    symbolsOf.set(at, [
      ...rows,
      plannedSymbol({ symbol, assetClass, weight, quote, at, strategyId, before: targets[symbol] ?? null, continues: only !== null }),
    ]);
  }
  const divisor = input.isPair ? 1 : input.symbols.length;
  for (const [{ summary }, symbols] of symbolsOf) {
    const equity = results === null ? nanoIn(summary.equity) : roundedToNano(capital!) + results;
    const { maxPositionSize, marketCollarPct } = limits;
    const sizing: Sizing = {
      equity,
      divisor,
      maxPosition: nanoIn(maxPositionSize),
      buyingPower: nanoIn(summary.buyingPower),
      marketCollarPct,
    };
    planned.symbols.push(...planSymbols(symbols, sizing));
  }
  return planned;
}

/** Ids of the strategy's orders that may still fill. */
export function ownOpenOrders(row: TradingAccountRow | null, strategyId: string): string[] {
  return Object.entries(row?.open ?? {}).flatMap(([id, entry]) => (entry.strategyId === strategyId ? [id] : []));
}

async function holdingsOf(
  { actors }: OrderEntryParts,
  owner: AccountMode,
  strategyId: string,
  brokerKeys: string[],
): Promise<Map<string, Holdings>> {
  const id = tradingAccountIdOf(owner);
  const row = await actors.query(tradingAccount, id, 'get', null);
  const brokers = new Map<string, Holdings>();
  for (const brokerKey of new Set(brokerKeys)) {
    const [summary, own] = await Promise.all([
      actors.query(tradingAccount, id, 'summary', { brokerKey }),
      actors.query(tradingAccount, id, 'strategyBook', { strategyId, brokerKey }),
    ]);
    if (summary === null) continue;
    const open = Object.entries(row?.open ?? {}).filter(([, entry]) => entry.brokerKey === brokerKey);
    const account = row?.books[brokerKey]?.book ?? emptyBook();
    brokers.set(brokerKey, { brokerKey, summary, own, account, open: open.map(([orderId, entry]) => ({ ...entry, orderId })) });
  }
  return brokers;
}

/** At the brokers of the run. Prices that are unavailable now are left out. */
async function quotesOf(
  { prices }: OrderEntryParts,
  owner: AccountMode,
  symbols: string[],
  brokers: Plan['brokers'],
): Promise<Map<string, Quote | null>> {
  const quoteOf = (symbol: string) => prices.quoteOf(owner, symbol, brokers[parseSymbol(symbol)!.assetClass]).catch(() => null);
  return new Map(await Promise.all(symbols.map(async (symbol) => [symbol, await quoteOf(symbol)] as const)));
}

/** The profit or loss of the strategy's own orders, at current prices: in billionths. */
function resultsOf(brokers: Iterable<Holdings>, quotes: Map<string, Quote | null>): bigint {
  let sum = 0n;
  for (const { own } of brokers)
    sum += equityOf(own, (symbol, quantity) => {
      const quote = quotes.get(symbol);
      return quote == null ? null : nanoPrice(quantity > 0n ? quote.bid : quote.ask);
    });
  return divideHalfEven(sum, one);
}

type About = Pick<PlannedSymbol, 'symbol' | 'weight' | 'before' | 'continues'> & {
  assetClass: AssetClass;
  quote: Quote;
  at: Holdings;
  strategyId: string;
};

function plannedSymbol({ symbol, weight, before, continues, assetClass, quote, at, strategyId }: About): PlannedSymbol {
  const open = at.open.filter(({ terms }) => terms.symbol === symbol);
  const remaining = ({ terms, filled }: OpenEntry) => signOf(terms.side) * (nanoIn(terms.quantity) - nanoIn(filled));
  const sumOf = (side: 'buy' | 'sell') =>
    open.reduce((sum, entry) => (entry.terms.side === side ? sum + nanoIn(entry.terms.quantity) - nanoIn(entry.filled) : sum), 0n);
  return {
    symbol,
    weight,
    before,
    continues,
    held: heldQuantity(at.own, symbol),
    open: open.filter((entry) => entry.strategyId === strategyId).map((entry) => ({ orderId: entry.orderId, remaining: remaining(entry) })),
    account: { held: heldQuantity(at.account, symbol), buys: sumOf('buy'), sells: sumOf('sell') },
    quote,
    ...stepsOf(at.summary.brokerName, assetClass),
  };
}

function stepsOf(brokerName: BrokerName, assetClass: AssetClass): Pick<PlannedSymbol, 'flips' | 'lot'> {
  const taken = capabilitiesOf[brokerName].assetClasses[assetClass];
  if (taken === undefined) return { flips: false, lot: one };
  const fractions = taken.fractional.market?.includes(defaultTimeInForce(assetClass)) ?? false;
  return { flips: taken.flips, lot: fractions ? nanoOf(taken.lot)! : one };
}
