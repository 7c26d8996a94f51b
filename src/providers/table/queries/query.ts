/** A question over the rows of one table: a value of each row, which rows count, how they are grouped, and which figure is wanted. */

export type TimeUnit = 'minutes' | 'hours' | 'days';
/** A part of a date, by which rows are grouped. */
export type DatePart = 'weekday' | 'day' | 'week' | 'month' | 'quarter' | 'year' | 'hour';

/** What each row gives; names are those of columns. Two dates or times of day give the time between them. */
export type RowValue =
  | { kind: 'difference'; of: string; less: string }
  | { kind: 'product'; of: string; times: string }
  | { kind: 'column'; of: string }
  /** Whether the cell is one of the values. `yes` and `no` mean all their spellings in a column that has only these. */
  | { kind: 'outcome'; of: string; is: string[] }
  | { kind: 'row' };

/** `split` groups the rows before a day and those from it on. */
export type Key = { column: string; part?: DatePart; split?: string };

/** `from` and `before` are days; `weekdays` are counted from Sunday (0), `months` from January (1). */
export type Condition = {
  column: string;
  is?: string[];
  is_not?: string[];
  from?: string;
  before?: string;
  weekdays?: number[];
  months?: number[];
};

export type Limit = { than: 'over' | 'at_least' | 'under' | 'at_most'; amount: number; unit?: TimeUnit | 'percent' };

export type Query = {
  value: RowValue;
  /** `share`: of the rows within `limit`, or with the outcome. `weighted`: the sum of the value divided by the sum of `weight`. `rows`: the rows with the largest or smallest values. */
  figure: 'mean' | 'sum' | 'share' | 'weighted' | 'rows';
  weight?: string;
  /** Each entry is a grouping, by one key or by two together. */
  by?: Key[][];
  where?: Condition[];
  /** What the value of a row is compared with. */
  limit?: Limit;
  /** What the figure of each group is compared with. */
  target?: Limit;
  /** The number of rows wanted. */
  top?: number;
  lowest?: boolean;
  unit?: TimeUnit;
};

/** Of each query its sentences, the answer first; none if the table has no such columns or too few rows. */
export type QueryAnswers = { name: string; queried: { lines: string[] }[] };
