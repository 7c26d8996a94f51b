/** Findings from comparing the rows of a table in memory. Each finding can be checked against the file by hand. */
import type { Basis } from '../basis.ts';
import { ColumnsInMemory } from '../columns-in-memory.ts';
import { failedReadingFindings } from '../failed-readings.ts';
import { loneSpikeFindings } from '../lone-spikes.ts';
import type { TableInMemory } from '../profile.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { periodFindings } from './asked-period.ts';
import { askedRatioFindings } from './asked-ratio.ts';
import { badReadingFindings } from './bad-readings.ts';
import { basisFindings } from './basis.ts';
import { boundFindings } from './bounds.ts';
import { cellFindings } from './cells.ts';
import { columnFindings } from './columns.ts';
import { constantSumFindings } from './constant-sum.ts';
import { withoutFindings } from './correlation-without-outliers.ts';
import { counterFindings } from './counters.ts';
import { crossFindings, outcomeFindings } from './crossed-groups.ts';
import { currencyFindings } from './currency.ts';
import { namedFindings } from './dates.ts';
import { deviationFindings } from './deviation.ts';
import { dueFindings } from './due-dates.ts';
import { durationFindings } from './durations.ts';
import { timeFindings } from './event-times.ts';
import { factorErrors } from './factor-errors.ts';
import { fewRowsFindings } from './few-rows.ts';
import { flowFindings } from './flows.ts';
import { gridFindings } from './grid.ts';
import { groupGapFindings } from './group-gaps.ts';
import { growthFindings } from './growth.ts';
import { latenessFindings } from './lateness.ts';
import { marginFindings } from './margin.ts';
import { matrixFindings } from './matrix.ts';
import { type Bounds, missingFindings } from './missing.ts';
import { outcomeRateFindings } from './outcome-rates.ts';
import { outlierFindings } from './outliers.ts';
import { pairFindings } from './pairs.ts';
import { pauseFindings } from './pauses.ts';
import { periodRowFindings } from './period-rows.ts';
import { punctualityFindings } from './punctuality.ts';
import { rankFindings } from './rank.ts';
import { rareFindings } from './rare-statuses.ts';
import { ratingFindings } from './ratings.ts';
import { ratioFindings } from './ratio.ts';
import { relationFindings, type TotalColumn } from './relations.ts';
import { rowFindings } from './rows.ts';
import { scoreFindings } from './score.ts';
import { seriesFindings } from './series.ts';
import { stepFindings } from './steps.ts';
import { stockFindings } from './stock.ts';
import { textFindings } from './text.ts';
import { clockFindings } from './times-of-day.ts';
import { totalColumnFindings, totalRowFindings } from './total-columns.ts';
import { writtenNumberFindings } from './written-numbers.ts';

const maxFindings = 110;

/**
 * Findings on figures are those of the rows that count; findings on the state of the data are those of all rows.
 *
 * @param whole the profile of all rows; `profile` has the figures of the rows that count
 * @param inherited columns that belong to the surrounding record, not to the rows
 */
export function findingsOf(
  memory: TableInMemory,
  basis: Basis | null,
  whole: TableProfile,
  profile: TableProfile,
  inherited: readonly string[],
  bounds: Bounds = {},
): Finding[] {
  const all = inMemory(memory, inherited);
  const table = basis === null ? all : inMemory(basis.counted, inherited);
  const distinct = basis === null ? all : basis.distinct === basis.counted ? table : inMemory(basis.distinct, inherited);
  const own = new Set(all.plans.filter(({ name }) => !inherited.includes(name)));
  const totals: TotalColumn[] = [];
  const relations = relationFindings(all, totals);
  const repeatedAreOut = basis?.leftOut.some(({ kind }) => kind === 'duplicates') ?? false;
  const factors = factorErrors(table, explainedIn(relations));
  const askedRatio = askedRatioFindings(table, bounds.ratio, factors.values);
  return [
    ...basisFindings(basis, all, table),
    ...periodFindings(all, table, bounds.period),
    ...totalColumnFindings(table, totals, memory.totals),
    ...rankFindings(table, profile),
    ...periodRowFindings(table),
    ...matrixFindings(table),
    ...namedFindings(all),
    ...factors.findings,
    ...askedRatio,
    ...ratioFindings(table, askedRatio.length > 0 ? undefined : bounds.ratio).map(({ kind, text }) => ({
      kind,
      text: `${text}${asWritten(text, factors.columns)}`,
    })),
    ...counterFindings(table),
    ...deviationFindings(table),
    ...outcomeRateFindings(table),
    ...pairFindings(table),
    ...gridFindings(all),
    ...groupGapFindings(all),
    ...marginFindings(table),
    ...flowFindings(table, profile),
    ...punctualityFindings(table),
    ...latenessFindings(table, bounds.aboveMinutes),
    ...dueFindings(table),
    ...currencyFindings(table),
    ...rareFindings(distinct),
    ...fewRowsFindings(table),
    ...scoreFindings(table, bounds.promoters),
    ...ratingFindings(table),
    ...stockFindings(table),
    ...growthFindings(table, bounds.months),
    ...crossFindings(table, profile),
    ...outcomeFindings(table, distinct, basis?.status ?? null, profile),
    ...timeFindings(table, profile),
    ...relations,
    ...clockFindings(table),
    ...durationFindings(table),
    ...stepFindings(table),
    ...totalRowFindings(all, totals, memory.totals),
    ...boundFindings(all),
    ...constantSumFindings(table),
    ...failedReadingFindings(all),
    ...loneSpikeFindings(all),
    ...outlierFindings(profile, table, inherited),
    ...badReadingFindings(table, profile, inherited),
    ...(inherited.length > 0 ? [] : rowFindings(all, whole, repeatedAreOut)),
    ...columnFindings(all, profile, own, bounds.scales ?? []),
    ...cellFindings(all),
    ...writtenNumberFindings(all, own),
    ...missingFindings(all, own),
    ...seriesFindings(all, table, whole),
    ...pauseFindings(all),
    ...withoutFindings(table),
    ...textFindings(table),
  ].slice(0, maxFindings);
}

/** The columns that a relation gives from other columns: "cost = kwh × tariff in 48 of 50 rows". */
function explainedIn(relations: readonly Finding[]): ReadonlySet<string> {
  return new Set(
    relations.flatMap(({ kind, text }) => (kind.startsWith('relation') && text.includes(' = ') ? [text.split(' = ')[0]!] : [])),
  );
}

export function inMemory({ rows, survey }: TableInMemory, inherited: readonly string[]): ColumnsInMemory {
  return new ColumnsInMemory(rows, survey.columns, inherited);
}

/** A note for figures that contain values which are probably wrong. */
function asWritten(text: string, columns: readonly string[]): string {
  const named = columns.filter((name) => text.includes(name));
  return named.length === 0 ? '' : ` These figures contain the probably wrong values of ${named.join(' and ')} as written.`;
}
