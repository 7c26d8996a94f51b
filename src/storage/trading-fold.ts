/**
 * What an account's books must be by its journal: a second, slower computation of the rules of docs/trading.md, which shares no code with the one that
 * keeps the books. Quantities and prices are billionths; cash, cost and results are units of 10^-18.
 */
import { withoutTrailing } from '../trailing.ts';

/** One row of a journal: an entry, or a fill with the kind `fill`, perhaps of a strategy. Amounts are decimal texts. */
export type JournalRow = { broker_key: string; strategy_id: string | null; entry: Entry };
type Entry = { kind: string; [field: string]: string };
const corporateActions: readonly string[] = ['split', 'dividend', 'symbol_change'];

export type FoldedBook = {
  cash: bigint;
  realised: bigint;
  commissions: bigint;
  positions: Map<string, { quantity: bigint; cost: bigint }>;
};

/** Into the book of its broker, and those of strategies there, under `strategy/broker`: a fill into its own, a corporate action into all that there are. */
export function foldInto(books: Map<string, FoldedBook>, { broker_key: key, strategy_id: strategyId, entry }: JournalRow): void {
  fold(books, key, entry);
  if (strategyId !== null) fold(books, `${strategyId}/${key}`, entry);
  if (!corporateActions.includes(entry.kind)) return;
  for (const other of books.keys()) if (other.endsWith(`/${key}`)) fold(books, other, entry);
}

function fold(books: Map<string, FoldedBook>, key: string, entry: Entry): void {
  const book = books.get(key) ?? { cash: 0n, realised: 0n, commissions: 0n, positions: new Map() };
  books.set(key, book);
  const held = (symbol: string) => book.positions.get(symbol) ?? { quantity: 0n, cost: 0n };
  const hold = (symbol: string, quantity: bigint, cost: bigint) => {
    book.positions.delete(symbol);
    if (quantity === 0n) book.realised -= cost;
    else book.positions.set(symbol, { quantity, cost });
  };
  switch (entry.kind) {
    case 'deposit':
      book.cash += billionths(entry.amount!) * billion;
      return;
    case 'adopted_cash':
      book.cash = billionths(entry.amount!) * billion;
      return;
    case 'adopted_position': {
      const quantity = billionths(entry.quantity!);
      return hold(entry.symbol!, quantity, quantity * billionths(entry.averagePrice!));
    }
    case 'split': {
      const { quantity, cost } = held(entry.symbol!);
      if (quantity !== 0n) hold(entry.symbol!, halfEven(quantity * billionths(entry.ratio!), billion), cost);
      return;
    }
    case 'dividend': {
      const paid = held(entry.symbol!).quantity * billionths(entry.amount!);
      book.cash += paid;
      book.realised += paid;
      return;
    }
    case 'symbol_change': {
      const from = held(entry.from!);
      if (from.quantity === 0n || entry.from === entry.to) return;
      const to = held(entry.to!);
      book.positions.delete(entry.from!);
      return hold(entry.to!, from.quantity + to.quantity, from.cost + to.cost);
    }
    case 'fill': {
      const fee = billionths(entry.commission!) * billion;
      const price = billionths(entry.price!);
      const traded = billionths(entry.quantity!) * (entry.side === 'buy' ? 1n : -1n);
      book.cash -= traded * price + fee;
      book.commissions += fee;
      const { quantity, cost } = held(entry.symbol!);
      const closes = quantity !== 0n && quantity > 0n !== traded > 0n;
      const closed: bigint = !closes ? 0n : size(traded) < size(quantity) ? -traded : quantity;
      const costOut: bigint = closed === 0n ? 0n : closed === quantity ? cost : halfEven(cost * closed, quantity);
      book.realised += closed * price - costOut;
      return hold(entry.symbol!, quantity + traded, cost - costOut + (traded + closed) * price);
    }
    default:
      throw new Error(`The journal has an entry of kind ${entry.kind}, which this version does not know`);
  }
}

/** The differences as texts, at most one line for each figure. `kept`: the figures that the account stores. */
export function differences(kept: KeptBook, folded: FoldedBook): string[] {
  const figures = (['cash', 'realised', 'commissions'] as const).flatMap((name) =>
    BigInt(kept[name]) === folded[name] ? [] : [`${name} ${decimal(BigInt(kept[name]), 18)}, journal ${decimal(folded[name], 18)}`],
  );
  const symbols = new Set([...Object.keys(kept.positions), ...folded.positions.keys()]);
  const held = [...symbols].sort().flatMap((symbol) => {
    const { quantity, cost } = kept.positions[symbol] ?? { quantity: '0', cost: '0' };
    const due = folded.positions.get(symbol) ?? { quantity: 0n, cost: 0n };
    if (billionths(quantity) !== due.quantity) return [`${symbol} ${quantity}, fills ${decimal(due.quantity, 9)}`];
    return BigInt(cost) === due.cost ? [] : [`${symbol} cost ${decimal(BigInt(cost), 18)}, fills ${decimal(due.cost, 18)}`];
  });
  return [...figures, ...held];
}

export type KeptBook = {
  cash: string;
  realised: string;
  commissions: string;
  positions: Record<string, { quantity: string; cost: string }>;
};

export const noBook: FoldedBook = { cash: 0n, realised: 0n, commissions: 0n, positions: new Map() };

const billion = 1_000_000_000n;

function billionths(text: string): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d{1,9})0*)?$/.exec(text);
  if (parts === null) throw new Error(`The journal has ${JSON.stringify(text)}, which is no decimal of nine places`);
  const whole = BigInt(parts[2]!) * billion + BigInt((parts[3] ?? '').padEnd(9, '0'));
  return parts[1] === '-' ? -whole : whole;
}

function halfEven(dividend: bigint, divisor: bigint): bigint {
  const [n, d] = divisor < 0n ? [-dividend, -divisor] : [dividend, divisor];
  const floor = n / d - (n % d < 0n ? 1n : 0n);
  const rest = 2n * (n - floor * d);
  return rest > d || (rest === d && floor % 2n !== 0n) ? floor + 1n : floor;
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function decimal(value: bigint, places: number): string {
  const digits = String(size(value)).padStart(places + 1, '0');
  const fraction = withoutTrailing(digits.slice(-places), '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`;
}
