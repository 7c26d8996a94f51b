/** The content of a file with quotes, and the faults of one that cannot be used. */
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { nanoOf } from '../decimal.ts';
import { parseSymbol } from './symbol.ts';

/** ISO 8601 with at least minutes. Without a zone it is UTC, not the machine's time. */
const momentForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/;
const moment = Type.Refine(Type.String({ maxLength: 40 }), (text) => Number.isFinite(momentMs(text)));
/** At most nine places, as in the books. */
const decimal = Type.Refine(Type.Number({ minimum: 0, maximum: 1e12 }), (value) => nanoOf(value) !== null);
const price = Type.Refine(decimal, (value) => value > 0);
const symbol = Type.Refine(Type.String({ maxLength: 16 }), (text) => parseSymbol(text) !== null);
const id = Type.Optional(Type.String({ minLength: 1, maxLength: 100 }));

const FileQuote = Type.Refine(
  Type.Object({ bid: price, ask: price, last: price, volume: decimal, at: Type.Optional(moment) }),
  (quote) => quote.bid <= quote.ask,
);
const FileAction = Type.Union([
  Type.Object({ type: Type.Literal('split'), symbol, ratio: price, id }),
  Type.Object({ type: Type.Literal('dividend'), symbol, amount: price, id }),
]);
const File = Type.Object({
  now: Type.Optional(moment),
  quotes: Type.Record(Type.String(), FileQuote),
  actions: Type.Optional(Type.Array(FileAction, { maxItems: 1_000 })),
});

export type FileAction = Static<typeof FileAction>;
export type FileQuote = { bid: number; ask: number; last: number; volume: number; atMs: number | null };
export type MarketFileContent = { nowMs: number | null; quotes: ReadonlyMap<string, FileQuote>; actions: readonly FileAction[] };

const maxQuotes = 10_000;

/** The message says where the fault is. */
export class MarketFileFault extends Error {
  override name = 'MarketFileFault';
}

/** Unknown members are ignored. Throws `MarketFileFault`. */
export function parseMarketFile(text: string): MarketFileContent {
  const value = parsed(text);
  if (!Value.Check(File, value)) {
    const [first] = Value.Errors(File, value);
    throw new MarketFileFault(`${first?.instancePath || 'the whole'} ${first?.message ?? 'has another form'}`.slice(0, 300));
  }
  const quotes = new Map<string, FileQuote>();
  for (const [name, { at, ...quote }] of Object.entries(value.quotes)) {
    const instrument = parseSymbol(name);
    if (instrument === null) throw new MarketFileFault(`/quotes has ${JSON.stringify(name.slice(0, 40))}, which is no symbol`);
    if (quotes.has(instrument.symbol)) throw new MarketFileFault(`/quotes has ${instrument.symbol} twice`);
    quotes.set(instrument.symbol, { ...quote, atMs: at === undefined ? null : momentMs(at) });
  }
  if (quotes.size > maxQuotes) throw new MarketFileFault(`/quotes has more than ${maxQuotes} symbols`);
  const actions = (value.actions ?? []).map((action) => ({ ...action, symbol: parseSymbol(action.symbol)!.symbol }));
  return { nowMs: value.now === undefined ? null : momentMs(value.now), quotes, actions };
}

function momentMs(text: string): number {
  const parts = momentForm.exec(text);
  return parts === null ? Number.NaN : Date.parse(parts[3] === undefined ? `${text}Z` : text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MarketFileFault(`is no JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}
