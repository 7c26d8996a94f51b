/**
 * Round trips as columns: from the fill that opens a position to the fill that closes it, or to the end. A fill that turns the position
 * round ends one trip and begins another.
 */

export type TradeColumns = {
  readonly count: number;
  /** Index of the symbol. */
  readonly symbol: Int32Array;
  /** 1 long, -1 short. */
  readonly side: Int8Array;
  readonly entryBar: Int32Array;
  /** -1 if the trade is open at the end. */
  readonly exitBar: Int32Array;
  /** The largest quantity held. */
  readonly quantity: Float64Array;
  /**
   * Mean prices of the fills that increased and that reduced the holding, weighted by quantity; the exit of an open trade is the last
   * close.
   */
  readonly entryPrice: Float64Array;
  readonly exitPrice: Float64Array;
  readonly commission: Float64Array;
  /** After costs, with dividends; an open trade counts at the last close. */
  readonly profit: Float64Array;
};

const initialCapacity = 256;

/** The state of each symbol's open trade: so many doubles per symbol. */
const [entryBar, side, entered, paid, left, received, most, commission, dividends, width] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

export class TradeLog {
  private columns: TradeColumns = emptyColumns(initialCapacity);
  private count = 0;
  private readonly open: Float64Array;

  constructor(symbols: number) {
    this.open = new Float64Array(symbols * width);
  }

  /** Books a fill of `after − before` shares; both are signed quantities held. */
  fill(s: number, bar: number, before: number, after: number, price: number, commissionRate: number): void {
    const flips = before > 0 ? after < 0 : before < 0 && after > 0;
    const between = flips ? 0 : after;
    if (before === 0) this.begin(s, bar, after > 0 ? 1 : -1);
    this.add(s, before, between, price, commissionRate);
    if (between === 0) this.end(s, bar, 0, 0);
    if (!flips) return;
    this.begin(s, bar, after > 0 ? 1 : -1);
    this.add(s, 0, after, price, commissionRate);
  }

  /** Cash that the holding of the symbol received, or paid if negative. */
  receive(s: number, cash: number): void {
    this.open[s * width + dividends]! += cash;
  }

  /** Call after the last bar: open holdings count at their last close. */
  close(quantities: Float64Array, lastCloses: Float64Array): TradeColumns {
    for (let s = 0; s < quantities.length; s++) if (quantities[s] !== 0) this.end(s, -1, quantities[s]!, lastCloses[s]!);
    const { columns, count } = this;
    return {
      count,
      symbol: columns.symbol.subarray(0, count),
      side: columns.side.subarray(0, count),
      entryBar: columns.entryBar.subarray(0, count),
      exitBar: columns.exitBar.subarray(0, count),
      quantity: columns.quantity.subarray(0, count),
      entryPrice: columns.entryPrice.subarray(0, count),
      exitPrice: columns.exitPrice.subarray(0, count),
      commission: columns.commission.subarray(0, count),
      profit: columns.profit.subarray(0, count),
    };
  }

  private begin(s: number, bar: number, itsSide: 1 | -1): void {
    const { open } = this;
    const at = s * width;
    // Written one by one: `fill` costs more than all of these assignments.
    open[at + entryBar] = bar;
    open[at + side] = itsSide;
    open[at + entered] = 0;
    open[at + paid] = 0;
    open[at + left] = 0;
    open[at + received] = 0;
    open[at + most] = 0;
    open[at + commission] = 0;
    open[at + dividends] = 0;
  }

  private add(s: number, before: number, after: number, price: number, commissionRate: number): void {
    const { open } = this;
    const at = s * width;
    const size = Math.abs(after);
    const change = size - Math.abs(before);
    const notional = Math.abs(change) * price;
    if (change > 0) {
      open[at + entered]! += change;
      open[at + paid]! += notional;
    } else {
      open[at + left]! -= change;
      open[at + received]! += notional;
    }
    if (size > open[at + most]!) open[at + most] = size;
    open[at + commission]! += notional * commissionRate;
  }

  private end(s: number, bar: number, quantity: number, lastClose: number): void {
    if (this.count === this.columns.symbol.length) this.grow();
    const row = this.count++;
    const { columns, open } = this;
    const at = s * width;
    const isOpen = quantity !== 0;
    columns.symbol[row] = s;
    columns.side[row] = open[at + side]!;
    columns.entryBar[row] = open[at + entryBar]!;
    columns.exitBar[row] = isOpen ? -1 : bar;
    columns.quantity[row] = open[at + most]!;
    columns.entryPrice[row] = open[at + paid]! / open[at + entered]!;
    columns.exitPrice[row] = isOpen ? lastClose : open[at + received]! / open[at + left]!;
    columns.commission[row] = open[at + commission]!;
    columns.profit[row] =
      open[at + side]! * (open[at + received]! + Math.abs(quantity) * lastClose - open[at + paid]!) +
      open[at + dividends]! -
      open[at + commission]!;
  }

  private grow(): void {
    const { columns } = this;
    const larger = emptyColumns(columns.symbol.length * 2);
    const { count: _, ...named } = larger;
    for (const [name, column] of Object.entries(named)) (column as Float64Array).set(columns[name as ColumnName] as Float64Array);
    this.columns = larger;
  }
}

type ColumnName = Exclude<keyof TradeColumns, 'count'>;

/** All columns share one buffer: creating many arrays would take as long as a run over few bars. */
function emptyColumns(capacity: number): TradeColumns {
  const buffer = new ArrayBuffer(capacity * (5 * 8 + 3 * 4 + 1));
  const doubles = (at: number) => new Float64Array(buffer, at * capacity * 8, capacity);
  const integers = (at: number) => new Int32Array(buffer, capacity * (40 + at * 4), capacity);
  return {
    count: 0,
    symbol: integers(0),
    side: new Int8Array(buffer, capacity * 52, capacity),
    entryBar: integers(1),
    exitBar: integers(2),
    quantity: doubles(0),
    entryPrice: doubles(1),
    exitPrice: doubles(2),
    commission: doubles(3),
    profit: doubles(4),
  };
}
