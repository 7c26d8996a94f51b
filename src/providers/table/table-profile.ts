/** The profile of a table. Agents read it as JSON, so its names are JSON style. Rows are numbered from 1, without the header. */

import type { ColumnRole } from './column-role.ts';
import type { Beyond } from './findings/missing.ts';

export type ColumnType = 'integer' | 'number' | 'date' | 'boolean' | 'text' | 'mixed' | 'empty';

export type TableProfile = {
  name: string;
  format: 'csv' | 'aligned' | 'json' | 'log' | 'markdown' | 'docx' | 'xlsx';
  encoding: string;
  /** Of a workbook: all its sheets. */
  sheets?: string[];
  /** Null for JSON. */
  delimiter: string | null;
  has_header: boolean;
  size_bytes: number;
  rows: number;
  /** Rows beside these that add up others, and are no records. */
  total_rows?: number;
  /** Set if the figures leave out some rows or values: then they rest on `rows` rows, and `all` beside a figure is the one of every row.
   * Missing, distinct and frequent values are always counted in every row. */
  basis?: { rows: number; left_out: LeftOut[] };
  column_count: number;
  /** Rows with more or fewer cells than the header; they are profiled, but surplus cells are left out. */
  ragged_rows: { count: number; first: { row: number; cells: number }[] };
  /** Irregularities, as texts. */
  warnings: string[];
  columns: ColumnProfile[];
  groups: GroupProfile[];
  trend: TrendProfile | null;
  /** Pearson's r of pairs of numeric columns, strongest first. */
  correlations: { columns: [string, string]; r: number; rows: number }[];
  /** What was left out to fit the size of a result, as texts. */
  trimmed: string[];
  /** Findings from comparing the rows: totals, duplicates, gaps, columns that depend on others …; the most important first within a kind. The name `remarks` stays: stored results of tools contain it. */
  remarks: Finding[];
  /** Lists within the records of a JSON file as tables: e.g. the lines of orders. */
  nested: TableProfile[];
};

export type Finding = { kind: string; text: string };

/** Rows or values that the figures leave out: `count` of them, described by `what`, and the numbers of the first rows. */
export type LeftOut = { kind: 'duplicates' | 'status' | 'values' | 'tests' | 'period'; what: string; count: number; rows: number[] };

export type ColumnProfile = {
  name: string;
  type: ColumnType;
  /** The role of the column; only measures are additive. */
  role: ColumnRole;
  /** True for a column that the profile computed from two others. */
  derived?: true;
  /** True for a column of numbers that the task names. */
  is_asked?: true;
  missing: number;
  distinct: number;
  distinct_estimated: boolean;
  /** The currency or % of the numbers. */
  unit?: string;
  /** Smallest and largest of whole numbers that are not quantities, such as years. */
  range?: { min: number; max: number };
  /** If units or currencies are mixed: figures of each, which are never added together. */
  by_unit?: { unit: string; count: number; sum: number; min: number; max: number }[];
  /** Cells in a column of numbers or dates that have another type, with the count of each text; they are left out of its figures. */
  left_out?: { value: string; count: number }[];
  numbers?: NumberProfile;
  /** Rows above or below the requested limits. */
  beyond?: Beyond;
  dates?: { first: string; last: string; count: number };
  /** The most frequent values, each with all its spellings; counts are exact. */
  frequent?: { value: string; count: number }[];
  /** In a mixed column: cells that do not have its main type. */
  unlike?: { count: number; examples: string[] };
};

export type NumberProfile = {
  count: number;
  sum: number;
  mean: number;
  median: number;
  min: number;
  min_row: number;
  max: number;
  max_row: number;
  /** Of a sample (divided by n − 1); 0 for a single value. */
  standard_deviation: number;
  q1: number;
  q3: number;
  /** True when median, quartiles and the count of outliers come from a random sample of the rows. */
  quantiles_estimated: boolean;
  outliers: OutlierProfile;
  all?: Figures;
};

export type OutlierProfile = {
  /** Which values count as outliers, e.g. `below -3 or above 12 (1.5 × the interquartile range beyond the quartiles)`. */
  rule: string;
  low_fence: number;
  high_fence: number;
  count: number;
  /** The farthest from the fences first, with the beginning of their row. */
  most_extreme: { row: number; value: number; cells: Record<string, string> }[];
};

/** Figures of one numeric column within a group or a period. `median` is left out if the table is too long for an exact one. */
export type Figures = { count: number; sum: number; mean: number; median?: number };

export type GroupProfile = {
  by: string;
  /** This column says which rows do not count; its figures have those rows too. */
  is_status?: true;
  /** Not all values are listed. */
  shortened?: true;
  values: GroupFigures[];
};
export type GroupFigures = { value: string; rows: number; figures: Record<string, Figures>; all?: AllFigures };
type AllFigures = { rows: number; figures: Record<string, Figures> };

export type TrendProfile = {
  date_column: string;
  period: 'hour' | 'day' | 'month' | 'quarter' | 'year';
  points: { period: string; rows: number; figures: Record<string, Figures>; all?: AllFigures }[];
};
