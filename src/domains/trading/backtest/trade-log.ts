/** Round trips as columns: from the fill that leaves flat to the fill that comes back to it, or to the end. A flip ends one and begins another. */

export type TradeColumns = {
  readonly count: number;
  /** Index of the symbol. */
  readonly symbol: Int32Array;
  /** 1 long, -1 short. */
  readonly side: Int8Array;
  readonly entryBar: Int32Array;
  /** Of one that is open at the end: -1. */
  readonly exitBar: Int32Array;
  /** The most that was held. */
  readonly quantity: Float64Array;
  /** Means of the fills that increased and that reduced the holding, weighted by quantity; the exit of an open one is the last close. */
  readonly entryPrice: Float64Array;
  readonly exitPrice: Float64Array;
  readonly commission: Float64Array;
  /** After costs, with dividends; of an open one at the last close. */
  readonly profit: Float64Array;
};

const firstRoom = 256;

export class TradeLog {
  private columns: TradeColumns = emptyColumns(firstRoom);
  private count = 0;
  /** Of the trade under way, by symbol. */
  private readonly entryBar: Int32Array;
  private readonly side: Int8Array;
  private readonly entered: Float64Array;
  private readonly paid: Float64Array;
  private readonly left: Float64Array;
  private readonly received: Float64Array;
  private readonly most: Float64Array;
  private readonly commission: Float64Array;
  private readonly dividends: Float64Array;

  constructor(symbols: number) {
    this.entryBar = new Int32Array(symbols);
    this.side = new Int8Array(symbols);
    this.entered = new Float64Array(symbols);
    this.paid = new Float64Array(symbols);
    this.left = new Float64Array(symbols);
    this.received = new Float64Array(symbols);
    this.most = new Float64Array(symbols);
    this.commission = new Float64Array(symbols);
    this.dividends = new Float64Array(symbols);
  }

  /** A fill of `after − before` shares, which are signed quantities held. */
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

  /** Cash that the holding of the symbol was paid, or had to pay. */
  receive(s: number, cash: number): void {
    this.dividends[s]! += cash;
  }

  /** After the last bar: what is still held counts at its last close. */
  close(quantities: Float64Array, lastCloses: Float64Array): TradeColumns {
    for (let s = 0; s < quantities.length; s++) if (quantities[s] !== 0) this.end(s, -1, quantities[s]!, lastCloses[s]!);
    const count = this.count;
    return mapColumns(this.columns, count, (column) => column.subarray(0, count));
  }

  private begin(s: number, bar: number, side: 1 | -1): void {
    this.entryBar[s] = bar;
    this.side[s] = side;
    this.entered[s] = this.paid[s] = this.left[s] = this.received[s] = this.most[s] = 0;
    this.commission[s] = this.dividends[s] = 0;
  }

  private add(s: number, before: number, after: number, price: number, commissionRate: number): void {
    const size = Math.abs(after);
    const change = size - Math.abs(before);
    const notional = Math.abs(change) * price;
    if (change > 0) {
      this.entered[s]! += change;
      this.paid[s]! += notional;
    } else {
      this.left[s]! -= change;
      this.received[s]! += notional;
    }
    if (size > this.most[s]!) this.most[s] = size;
    this.commission[s]! += notional * commissionRate;
  }

  private end(s: number, bar: number, quantity: number, lastClose: number): void {
    if (this.count === this.columns.symbol.length) this.grow();
    const at = this.count++;
    const columns = this.columns;
    const side = this.side[s]!;
    const open = quantity !== 0;
    columns.symbol[at] = s;
    columns.side[at] = side;
    columns.entryBar[at] = this.entryBar[s]!;
    columns.exitBar[at] = open ? -1 : bar;
    columns.quantity[at] = this.most[s]!;
    columns.entryPrice[at] = this.paid[s]! / this.entered[s]!;
    columns.exitPrice[at] = open ? lastClose : this.received[s]! / this.left[s]!;
    columns.commission[at] = this.commission[s]!;
    columns.profit[at] =
      side * (this.received[s]! + Math.abs(quantity) * lastClose - this.paid[s]!) + this.dividends[s]! - this.commission[s]!;
  }

  private grow(): void {
    const larger = emptyColumns(this.columns.symbol.length * 2);
    mapColumns(larger, 0, (column, name) => {
      (column as Float64Array).set(this.columns[name] as Float64Array);
      return column;
    });
    this.columns = larger;
  }
}

type ColumnName = Exclude<keyof TradeColumns, 'count'>;
type Column = Int32Array | Int8Array | Float64Array;

function mapColumns(columns: TradeColumns, count: number, change: (column: Column, name: ColumnName) => Column): TradeColumns {
  const { count: _, ...named } = columns;
  const changed = Object.entries(named).map(([name, column]) => [name, change(column, name as ColumnName)]);
  return { count, ...Object.fromEntries(changed) } as TradeColumns;
}

/** All in one buffer: a run over few bars takes about as long as the making of many would. */
function emptyColumns(room: number): TradeColumns {
  const buffer = new ArrayBuffer(room * (5 * 8 + 3 * 4 + 1));
  const doubles = (at: number) => new Float64Array(buffer, at * room * 8, room);
  const integers = (at: number) => new Int32Array(buffer, room * (40 + at * 4), room);
  return {
    count: 0,
    symbol: integers(0),
    side: new Int8Array(buffer, room * 52, room),
    entryBar: integers(1),
    exitBar: integers(2),
    quantity: doubles(0),
    entryPrice: doubles(1),
    exitPrice: doubles(2),
    commission: doubles(3),
    profit: doubles(4),
  };
}
