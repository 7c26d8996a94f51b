/** Remarks from comparing the rows of a table in memory. Each remark can be checked against the file by hand. */
import { ColumnsInMemory } from './columns-in-memory.ts';
import type { TableInMemory } from './profile.ts';
import { boundRemarks } from './remarks-bounds.ts';
import { cellRemarks } from './remarks-cells.ts';
import { columnRemarks } from './remarks-columns.ts';
import { constantSumRemarks } from './remarks-constant-sum.ts';
import { crossRemarks } from './remarks-cross.ts';
import { currencyRemarks } from './remarks-currency.ts';
import { namedRemarks } from './remarks-dates.ts';
import { dueRemarks } from './remarks-due.ts';
import { flowRemarks } from './remarks-flows.ts';
import { gridRemarks } from './remarks-grid.ts';
import { growthRemarks } from './remarks-growth.ts';
import { marginRemarks } from './remarks-margin.ts';
import { matrixRemarks } from './remarks-matrix.ts';
import { type Bounds, missingRemarks } from './remarks-missing.ts';
import { pairRemarks } from './remarks-pairs.ts';
import { pauseRemarks } from './remarks-pauses.ts';
import { periodRowRemarks } from './remarks-period-rows.ts';
import { rankRemarks } from './remarks-rank.ts';
import { rareRemarks } from './remarks-rare.ts';
import { ratingRemarks } from './remarks-ratings.ts';
import { ratioRemarks } from './remarks-ratio.ts';
import { relationRemarks } from './remarks-relations.ts';
import { rowRemarks } from './remarks-rows.ts';
import { scoreRemarks } from './remarks-score.ts';
import { seriesRemarks } from './remarks-series.ts';
import { stockRemarks } from './remarks-stock.ts';
import { textRemarks } from './remarks-text.ts';
import { timeRemarks } from './remarks-times.ts';
import { withoutRemarks } from './remarks-without.ts';
import type { Remark, TableProfile } from './table-profile.ts';

const maxRemarks = 110;

/** @param inherited columns that belong to the surrounding record, not to the rows */
export function remarksOf(
  { rows, survey }: TableInMemory,
  profile: TableProfile,
  inherited: readonly string[],
  bounds: Bounds = {},
): Remark[] {
  const table = new ColumnsInMemory(rows, survey.columns);
  const own = new Set(survey.columns.filter(({ name }) => !inherited.includes(name)));
  const relations = relationRemarks(table);
  return [
    ...rankRemarks(table, profile),
    ...periodRowRemarks(table),
    ...matrixRemarks(table),
    ...namedRemarks(table),
    ...ratioRemarks(table, bounds.ratio),
    ...pairRemarks(table),
    ...gridRemarks(table),
    ...marginRemarks(table),
    ...flowRemarks(table, profile),
    ...dueRemarks(table),
    ...currencyRemarks(table),
    ...rareRemarks(table),
    ...scoreRemarks(table),
    ...ratingRemarks(table),
    ...stockRemarks(table),
    ...growthRemarks(table, bounds.months),
    ...crossRemarks(table, profile),
    ...timeRemarks(table, profile),
    ...relations,
    ...boundRemarks(table),
    ...constantSumRemarks(table),
    ...(inherited.length > 0 ? [] : rowRemarks(table, profile)),
    ...columnRemarks(table, profile, own),
    ...cellRemarks(table),
    ...missingRemarks(table, own),
    ...seriesRemarks(table, profile),
    ...pauseRemarks(table),
    ...withoutRemarks(table),
    ...textRemarks(table),
  ].slice(0, maxRemarks);
}
