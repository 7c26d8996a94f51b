/** Symbols, the asset class that a symbol's form determines, and the steps of price and quantity of each class. */
import { nanoOf, one, roundToStep } from '../decimal.ts';

export const assetClasses = ['equity', 'crypto'] as const;
export type AssetClass = (typeof assetClasses)[number];

/** `symbol` is the normal form in answers and books: `AAPL`, `BTC-USD`. */
export type Instrument = { symbol: string; assetClass: AssetClass };

const equityForm = /^[A-Z][A-Z0-9.]{0,9}$/;
const cryptoForm = /^([A-Z0-9]{1,10})[-/](USD|USDC|USDT|EUR)$/;

/** The pattern of a symbol in requests: both classes, also `BTC/USD`. */
export const symbolPattern = '^([A-Z][A-Z0-9.]{0,9}|[A-Z0-9]{1,10}[-/](USD|USDC|USDT|EUR))$';

/** null for a text in the form of neither class, also in lower case. Says nothing about whether the symbol is traded. */
export function parseSymbol(text: string): Instrument | null {
  const pair = cryptoForm.exec(text);
  if (pair !== null) return { symbol: `${pair[1]}-${pair[2]}`, assetClass: 'crypto' };
  return equityForm.test(text) ? { symbol: text, assetClass: 'equity' } : null;
}

/** The coin of a pair: `BTC` of `BTC-USD`. */
export function baseOf(pair: string): string {
  return pair.slice(0, pair.lastIndexOf('-'));
}

/** Steps of price by coin, in billionths, for every quote currency. */
const cryptoTicks: Readonly<Record<string, bigint>> = {
  BTC: one / 100n,
  ETH: one / 100n,
  BCH: one / 100n,
  LTC: one / 100n,
  SOL: one / 100n,
  AVAX: one / 100n,
  AAVE: one / 100n,
  LINK: one / 1_000n,
  DOT: one / 1_000n,
  UNI: one / 1_000n,
  XRP: one / 10_000n,
  ADA: one / 10_000n,
  DOGE: one / 100_000n,
};
const otherCryptoTick = one / 100_000_000n;

/** The step of price in billionths. Equities: 0.01 from 1 USD on, 0.0001 below. @param price in billionths */
export function tickOf({ symbol, assetClass }: Instrument, price: bigint): bigint {
  if (assetClass === 'equity') return price >= one ? one / 100n : one / 10_000n;
  const coin = baseOf(symbol);
  return Object.hasOwn(cryptoTicks, coin) ? cryptoTicks[coin]! : otherCryptoTick;
}

/** Whether a price is a positive multiple of its step. */
export function isOnTick(instrument: Instrument, price: number): boolean {
  const nano = nanoOf(price);
  return nano !== null && nano > 0n && nano % tickOf(instrument, nano) === 0n;
}

/** Rounds a price to its step, both in billionths. */
export function onTick(instrument: Instrument, price: bigint, side: 'nearest' | 'down' | 'up' = 'nearest'): bigint {
  return roundToStep(price, tickOf(instrument, price), side);
}

/** The step of quantity in billionths: whole shares if a venue accepts no fractions, else nine places, as in the books. */
export function lotOf(assetClass: AssetClass, fractions: boolean): bigint {
  return assetClass === 'equity' && !fractions ? one : 1n;
}
