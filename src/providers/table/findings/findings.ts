/** Findings from comparing the rows of a table in memory. Each finding can be checked against the file by hand. */
import { ColumnsInMemory } from '../columns-in-memory.ts';
import type { TableInMemory } from '../profile.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { badReadingFindings } from './bad-readings.ts';
import { boundFindings } from './bounds.ts';
import { cellFindings } from './cells.ts';
import { columnFindings } from './columns.ts';
import { constantSumFindings } from './constant-sum.ts';
import { withoutFindings } from './correlation-without-outliers.ts';
import { crossFindings } from './crossed-groups.ts';
import { currencyFindings } from './currency.ts';
import { namedFindings } from './dates.ts';
import { dueFindings } from './due-dates.ts';
import { timeFindings } from './event-times.ts';
import { fewRowsFindings } from './few-rows.ts';
import { flowFindings } from './flows.ts';
import { gridFindings } from './grid.ts';
import { growthFindings } from './growth.ts';
import { marginFindings } from './margin.ts';
import { matrixFindings } from './matrix.ts';
import { type Bounds, missingFindings } from './missing.ts';
import { outlierFindings } from './outliers.ts';
import { pairFindings } from './pairs.ts';
import { pauseFindings } from './pauses.ts';
import { periodRowFindings } from './period-rows.ts';
import { punctualityFindings } from './punctuality.ts';
import { rankFindings } from './rank.ts';
import { rareFindings } from './rare-statuses.ts';
import { ratingFindings } from './ratings.ts';
import { ratioFindings } from './ratio.ts';
import { relationFindings } from './relations.ts';
import { rowFindings } from './rows.ts';
import { scoreFindings } from './score.ts';
import { seriesFindings } from './series.ts';
import { stockFindings } from './stock.ts';
import { textFindings } from './text.ts';

const maxFindings = 110;

/** @param inherited columns that belong to the surrounding record, not to the rows */
export function findingsOf(
  { rows, survey }: TableInMemory,
  profile: TableProfile,
  inherited: readonly string[],
  bounds: Bounds = {},
): Finding[] {
  const table = new ColumnsInMemory(rows, survey.columns);
  const own = new Set(survey.columns.filter(({ name }) => !inherited.includes(name)));
  const relations = relationFindings(table);
  return [
    ...rankFindings(table, profile),
    ...periodRowFindings(table),
    ...matrixFindings(table),
    ...namedFindings(table),
    ...ratioFindings(table, bounds.ratio),
    ...pairFindings(table),
    ...gridFindings(table),
    ...marginFindings(table),
    ...flowFindings(table, profile),
    ...punctualityFindings(table),
    ...dueFindings(table),
    ...currencyFindings(table),
    ...rareFindings(table),
    ...fewRowsFindings(table),
    ...scoreFindings(table),
    ...ratingFindings(table),
    ...stockFindings(table),
    ...growthFindings(table, bounds.months),
    ...crossFindings(table, profile),
    ...timeFindings(table, profile),
    ...relations,
    ...boundFindings(table),
    ...constantSumFindings(table),
    ...outlierFindings(profile, table),
    ...badReadingFindings(table, profile, inherited),
    ...(inherited.length > 0 ? [] : rowFindings(table, profile)),
    ...columnFindings(table, profile, own),
    ...cellFindings(table),
    ...missingFindings(table, own),
    ...seriesFindings(table, profile),
    ...pauseFindings(table),
    ...withoutFindings(table),
    ...textFindings(table),
  ].slice(0, maxFindings);
}
