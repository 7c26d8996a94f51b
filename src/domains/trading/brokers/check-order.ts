/** Whether a broker accepts an order, decided by its table alone. */
import { nanoOf, nanoText, one } from '../decimal.ts';
import { type AssetClass, parseSymbol, tickOf } from '../market/symbol.ts';
import { nanoIn, sizeOf } from '../orders/amounts.ts';
import type { OrderTerms, OrderType } from '../orders/terms.ts';
import { type BrokerName, capabilitiesOf } from './capabilities.ts';

/** One item of a 422: the field, and what is allowed in it. */
export type OrderFault =
  | {
      type: 'order_not_supported_by_broker';
      loc: 'symbol' | 'order_type' | 'time_in_force' | 'quantity';
      ctx: { broker_name: BrokerName; asset_class: AssetClass; allowed: readonly (string | number)[] };
    }
  | { type: 'price_increment'; loc: 'limit_price' | 'stop_price'; ctx: { tick: number } };

/**
 * null: the broker accepts it. Otherwise only the first fault, in the order symbol, type, validity, quantity, prices.
 *
 * @param held what is held of the symbol, in billionths, negative for a short
 */
export function checkOrder(brokerName: BrokerName, terms: OrderTerms, held = 0n): OrderFault | null {
  const { assetClass, orderType, timeInForce } = terms;
  const { assetClasses } = capabilitiesOf[brokerName];
  const refuse = (loc: 'symbol' | 'order_type' | 'time_in_force' | 'quantity', allowed: readonly (string | number)[]): OrderFault => ({
    type: 'order_not_supported_by_broker',
    loc,
    ctx: { broker_name: brokerName, asset_class: assetClass, allowed },
  });
  const taken = assetClasses[assetClass];
  if (taken === undefined) return refuse('symbol', Object.keys(assetClasses));
  const validities = taken.orderTypes[orderType];
  if (validities === undefined) return refuse('order_type', Object.keys(taken.orderTypes));
  if (!validities.includes(timeInForce)) return refuse('time_in_force', validities);
  const quantity = nanoIn(terms.quantity);
  const isFraction = quantity % one !== 0n;
  if (isFraction && !(taken.fractional[orderType] ?? []).includes(timeInForce)) {
    // If fractions are accepted in another form, that form is what is allowed; the quantity itself must be whole here.
    return refuse('quantity', ['whole numbers']);
  }
  if (isFraction && quantity % nanoOf(taken.lot)! !== 0n) return refuse('quantity', [`multiples of ${nanoText(nanoOf(taken.lot)!)}`]);
  const isAgainst = held !== 0n && held > 0n === (terms.side === 'sell');
  if (isAgainst && !taken.flips && quantity > sizeOf(held)) return refuse('quantity', [`at most ${nanoText(sizeOf(held))}`]);
  return offTick(terms, 'limit_price', terms.limitPrice) ?? offTick(terms, 'stop_price', terms.stopPrice);
}

function offTick({ symbol }: OrderTerms, loc: 'limit_price' | 'stop_price', price: string | null): OrderFault | null {
  const instrument = parseSymbol(symbol);
  if (price === null || instrument === null) return null;
  const tick = tickOf(instrument, nanoIn(price));
  return nanoIn(price) % tick === 0n ? null : { type: 'price_increment', loc, ctx: { tick: Number(tick) / Number(one) } };
}

/** The order types that a broker accepts of an asset class; none if it does not trade the class. */
export function orderTypesOf(brokerName: BrokerName, assetClass: AssetClass): OrderType[] {
  return Object.keys(capabilitiesOf[brokerName].assetClasses[assetClass]?.orderTypes ?? {}) as OrderType[];
}
