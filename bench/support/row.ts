/** One line of a bench's outcome: what we do, the limit beside it, and whether what is to be reached is reached. */

export type Reach = { atLeast: number } | { atMost: number };

export type Row = {
  bench: string;
  row: string;
  unit: string;
  ours: number;
  limit: number;
  /** Ours as a share of the limit. */
  ratio: number;
  reach: Reach | null;
  /** null: the row is for information, nothing is to be reached. */
  holds: boolean | null;
  /** The slices of one side differed so much that something else was at work on the machine. */
  noisy: boolean;
};

export type Figures = Pick<Row, 'bench' | 'row' | 'unit' | 'ours' | 'limit' | 'reach'> & { noisy?: boolean };

export function makeRow({ noisy = false, ...figures }: Figures): Row {
  const ratio = figures.ours / figures.limit;
  const { reach } = figures;
  const holds = reach === null ? null : 'atLeast' in reach ? ratio >= reach.atLeast : ratio <= reach.atMost;
  return { ...figures, ratio, holds, noisy };
}

/** The row as one line of JSON, the figures rounded to what they can mean. */
export function jsonLine({ bench, row, unit, ours, limit, ratio, holds, noisy }: Row): string {
  return JSON.stringify({ bench, row, unit, ours: rounded(ours), limit: rounded(limit), ratio: rounded(ratio), holds, noisy });
}

/** The row as one line for people. */
export function textLine({ row, unit, ours, limit, ratio, reach, holds, noisy }: Row): string {
  const wanted = reach === null ? '' : 'atLeast' in reach ? `, at least ${reach.atLeast}` : `, at most ${reach.atMost}`;
  const verdict = holds === null ? '' : holds ? '  holds' : '  DOES NOT HOLD';
  const figures = `${shown(ours).padStart(11)}  limit ${shown(limit).padStart(11)} ${unit.padEnd(13)}`;
  return `  ${row.padEnd(46)} ${figures} ${rounded(ratio)}${wanted}${verdict}${noisy ? '  (noisy)' : ''}`;
}

function rounded(value: number): number {
  return Number(value.toPrecision(value >= 1_000 ? 4 : 3));
}

function shown(value: number): string {
  return rounded(value).toLocaleString('en-US', { maximumFractionDigits: 3 });
}
