/** Notable findings of a profile, in plain sentences. Every figure is from the profile, or a share or difference of two of its figures. */
import type { ColumnProfile, Finding, TableProfile } from '../../table/table-profile.ts';
import { addsUp, countOf, exact, leftOutText, mainMeasure, measures, percent, round, safe } from './figure.ts';
import { biggestGroups } from './findings-groups.ts';
import { trend } from './findings-trend.ts';

const minCorrelation = 0.7;
const maxCorrelations = 6;
/** Share of a column's sum at which a single row is worth a warning. */
const minWeightShare = 0.1;

/** Remarks that explain the figures come before those on the quality of the data. */
const explainingKinds = new Set(
  'formula_verdict formula_agrees formula_unstored formula_left_out formula_typed formula_text formula_stale formula_twice formula_differs formula_total formula_empty formula_error formula_rank formula_counted factor_error asked_ratio basis asked_period total total_wrong flows on_time late open unit_figures rare_state stock promoters ratings rate planned worked worked_by durations step balance balance_broken mixed_units rank period_columns period_rows period_growth period_odd period_same period_steady period_each per_record growth ratio matrix margin change date_ends parts subtotal_rank grid_gaps group_odd leaders outcomes hours_of_day column_means row_means counter level join'.split(
    ' ',
  ),
);
/** What most questions are about. */
const firstKinds = new Set([
  'formula_verdict',
  'formula_agrees',
  'asked_ratio',
  'factor_error',
  'growth',
  'planned',
  'durations',
  'on_time',
  'late',
  'flows',
]);
/** Values that look wrong, and the figures without them. */
const suspectKinds = new Set(['outlier', 'without_bad']);
/** Crossed groups and hours are told behind what is simpler. */
const lastKinds = new Set(['leaders', 'outcomes', 'hours_of_day']);
const pieceKinds = new Set(['growth', 'growth_each', 'matrix', 'leaders']);
/** Notes on the form of a file, which are no problem. */
const structure =
  /^Beside the records| is null in row |^Of the tables in the file|is a list in each record|of the record that the entry belongs to/;
const maxOthers = 6;
const fewRows = 10;
const minForOutliers = 8;

/** The most important first. */
export function findings(profile: TableProfile): string[] {
  return findingsWithKinds(profile).map(({ text }) => text);
}

/** The findings with their kinds: those of the profile's remarks, and kinds of this file. */
export function findingsWithKinds(profile: TableProfile): Finding[] {
  if (profile.rows === 0) return ofKind('empty_table', emptyTable(profile));
  const ofPieces = piecesIn(profile);
  const said = profile.remarks.filter((finding) => !ofPieces(finding)).map(({ kind, text }) => ({ kind, text: safe(text) }));
  return [
    ...said.filter(({ kind }) => kind === 'basis'),
    ...said.filter(({ kind }) => isTotal(kind)),
    ...ofKind('sums', totals(profile)),
    ...said.filter(({ kind }) => firstKinds.has(kind)),
    ...said.filter(
      ({ kind }) => kind !== 'basis' && !isTotal(kind) && explainingKinds.has(kind) && !firstKinds.has(kind) && !lastKinds.has(kind),
    ),
    ...said.filter(({ kind }) => lastKinds.has(kind)),
    ...ofKind('group', biggestGroups(profile)),
    ...ofKind('trend', trend(profile)),
    ...said.filter(({ kind }) => kind === 'outlier'),
    ...ofKind('weight', weight(profile)),
    ...said.filter(({ kind }) => kind === 'without_bad'),
    ...said.filter(({ kind }) => !explainingKinds.has(kind) && !suspectKinds.has(kind)),
    ...ofKind('correlation', correlations(profile)),
    ...ofKind('missing', missing(profile)),
    ...dataProblems(profile).map((text) => ({ kind: structure.test(text) ? 'structure' : 'data_problem', text })),
    ...ofKind('few_rows', smallSample(profile)),
  ];
}

/** Findings by groups on the number of pieces or of entries in a JSON file whose value is computed: pieces of different things are no measure of it. */
function piecesIn({ format, columns, nested }: TableProfile): (finding: Finding) => boolean {
  if (format !== 'json') return () => false;
  const derived = columns.filter((column) => column.derived === true).map(({ name }) => name);
  const ofLists = nested.some((list) => list.columns.some((column) => column.derived === true));
  const names = [
    ...derived.map((name) => name.split(' × ')[0]!),
    ...(ofLists ? columns.filter(({ name }) => name.startsWith('number of ')).map(({ name }) => name) : []),
  ];
  return ({ kind, text }) =>
    pieceKinds.has(kind) && names.some((name) => text.includes(name) && !derived.some((own) => text.includes(own)));
}

function isTotal(kind: string): boolean {
  return kind === 'total' || kind === 'total_wrong';
}

function ofKind(kind: string, texts: readonly string[]): Finding[] {
  return texts.map((text) => ({ kind, text }));
}

/** No rows: the possible cause, and what to do next. */
function emptyTable(profile: TableProfile): string[] {
  const otherWarnings = profile.warnings.filter((text) => !/^The (?:file is empty|table has a header)/.test(text)).map(safe);
  if (profile.column_count === 0)
    return [
      'The file is empty: it has no header and no rows.',
      'Next: check that the export was finished and that the right file was uploaded, then upload it again with its rows.',
      ...otherWarnings,
    ];
  const names = profile.columns.slice(0, 12).map(({ name }) => safe(name));
  return [
    `The table has a header (${names.join(', ')}) and no rows, so there is nothing to analyse.`,
    'Next: check the filter or the period of the export, then upload the file again with at least one row of data below the header.',
    ...otherWarnings,
  ];
}

function totals(profile: TableProfile): string[] {
  const main = mainMeasure(profile);
  if (main === undefined) return [];
  const others = measures(profile).filter((column) => column !== main);
  return [
    ...total(profile, main, true),
    ...weightedMean(profile, main),
    ...others.slice(0, maxOthers).flatMap((column) => total(profile, column, false)),
  ];
}

function total(profile: TableProfile, measure: ColumnProfile, isMain: boolean): string[] {
  const { sum, mean, median, min, max, count, quantiles_estimated, all } = measure.numbers!;
  const unit = measure.unit === undefined ? '' : ` ${safe(measure.unit)}`;
  const name = safe(measure.name);
  const middle = `mean ${round(mean)}, median ${quantiles_estimated ? 'about ' : ''}${round(median)}`;
  if (min === max) return [];
  const left = isMain ? `without ${leftOutText(profile.basis?.left_out ?? [])}` : 'without what the figures leave out';
  const withAll =
    all === undefined
      ? ''
      : `, ${left}; ${addsUp(measure) ? exact(all.sum) : `mean ${round(all.mean)}`} over all ${countOf(all.count, 'row')}`;
  if (!addsUp(measure))
    return [
      `${name} goes from ${exact(min)} to ${exact(max)}${unit} over ${countOf(count, 'row')} (${middle})${withAll}.${measure.role === 'unclear' && count > 1 ? ` Nothing tells whether its values may be added up; if they may, they make ${exact(sum)}.` : ''}`,
    ];
  const derived =
    measure.derived === true
      ? ` (computed row by row; the file has no such column; largest in row ${measure.numbers!.max_row}: ${exact(max)}, smallest in row ${measure.numbers!.min_row}: ${exact(min)})`
      : '';
  return [`${name} adds up to ${exact(sum)}${unit} over ${countOf(count, 'row')} (${middle})${withAll}.${derived}`];
}

/** The mean price of a quantity × price, weighted by the quantity: the mean over rows counts one piece like a hundred. */
function weightedMean(profile: TableProfile, { name, derived, numbers }: ColumnProfile): string[] {
  const [quantityName, priceName, ...more] = name.split(' × ');
  if (derived !== true || more.length > 0) return [];
  const [quantity, price] = [quantityName, priceName].map((each) => profile.columns.find((column) => column.name === each)?.numbers);
  if (quantity === undefined || price === undefined || quantity.count !== numbers!.count || quantity.sum <= 0 || quantity.min < 0)
    return [];
  return [
    `Mean ${safe(priceName!)} weighted by ${safe(quantityName!)}: ${round(numbers!.sum / quantity.sum)} (${exact(numbers!.sum)} ÷ ${exact(quantity.sum)}); over the rows, without weights, ${round(price.mean)}.`,
  ];
}

function smallSample(profile: TableProfile): string[] {
  if (profile.rows >= fewRows) return [];
  return [
    `There ${profile.rows === 1 ? 'is' : 'are'} only ${countOf(profile.rows, 'row')}; ${profile.rows === 1 ? 'nothing can be compared' : 'means, shares and changes over so few are no more than a hint'}.`,
  ];
}

/** One row with a large part of a sum distorts every figure that contains it. */
function weight(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  const top = measure?.numbers?.outliers.most_extreme.find(({ value }) => value === measure.numbers!.max);
  if (
    measure?.numbers === undefined ||
    !addsUp(measure) ||
    measure.numbers.count < minForOutliers ||
    top === undefined ||
    // A share is meaningless if large amounts of the other sign reduce the sum.
    -measure.numbers.min > measure.numbers.max / 4 ||
    top.value < measure.numbers.sum * minWeightShare
  )
    return [];
  const rest = (sum: number) => exact(Number((sum - top.value).toPrecision(12)));
  const group = profile.groups.find(({ by }) => (top.cells[by] ?? '') !== '');
  const own = group?.values.find(({ value }) => value === top.cells[group.by]);
  const sum = own?.figures[measure.name]?.sum;
  const ownRest =
    sum === undefined || sum === top.value ? '' : ` and ${safe(own!.value)} would be at ${rest(sum)} instead of ${exact(sum)}`;
  const period = profile.trend?.period === 'month' ? (top.cells[profile.trend.date_column] ?? '') : '';
  const inMonth = /^\d{4}-\d{2}-/.test(period) ? profile.trend!.points.find((point) => period.startsWith(point.period)) : undefined;
  const ofMonth = inMonth?.figures[measure.name]?.sum;
  const monthRest =
    ofMonth === undefined || ofMonth === top.value ? '' : `, and ${inMonth!.period} at ${rest(ofMonth)} instead of ${exact(ofMonth)}`;
  return [
    `Row ${top.row} alone is ${percent(top.value, measure.numbers.sum)} of all ${safe(measure.name)}; check it before relying on the totals. Without it the sum would be ${rest(measure.numbers.sum)}${ownRest}${monthRest}.`,
  ];
}

function correlations(profile: TableProfile): string[] {
  const known = new Set(measures(profile).map(({ name }) => name));
  const related = profile.remarks.filter(({ kind }) => kind === 'relation' || kind === 'relation_broken').map(({ text }) => text);
  const follows = (a: string, b: string) => related.some((text) => text.includes(a) && text.includes(b));
  return profile.correlations
    .filter(({ columns }) => !follows(...columns))
    .filter(({ columns, r, rows }) => Math.abs(r) >= minCorrelation && rows >= 8 && columns.every((name) => known.has(name)))
    .slice(0, maxCorrelations)
    .map(
      ({ columns: [a, b], r, rows }) =>
        `${safe(a)} and ${safe(b)} ${r > 0 ? 'rise together' : 'move against each other'} (correlation ${r.toFixed(2)} over ${exact(rows)} rows); that is no proof of cause.`,
    );
}

function missing(profile: TableProfile): string[] {
  const gaps = profile.columns.filter((column) => column.missing > 0).toSorted((a, b) => b.missing - a.missing);
  // Cells of total rows are not counted.
  const isReduced = profile.total_rows !== undefined;
  if (gaps.length === 0) return [isReduced ? `No cell of the ${countOf(profile.rows, 'record')} is missing.` : 'No cell is missing.'];
  const listed = gaps.slice(0, 6).map(({ name, missing: count }) => `${safe(name)} ${exact(count)} (${percent(count, profile.rows)})`);
  return [`Missing cells: ${listed.join(', ')}${gaps.length > 6 ? ` and ${gaps.length - 6} more columns` : ''}.`];
}

function dataProblems(profile: TableProfile): string[] {
  const { ragged_rows: ragged } = profile;
  const isReported = profile.remarks.some(({ kind }) => kind === 'left_out');
  const mixed = profile.columns
    .filter(({ unlike, numbers, dates }) => !isReported && unlike !== undefined && (numbers ?? dates) !== undefined)
    .map(
      ({ name, unlike }) =>
        `${safe(name)} holds ${exact(unlike!.count)} cells unlike the others (${unlike!.examples.map(safe).join(', ')}); they are left out of its figures.`,
    );
  const uneven =
    ragged.count > 0
      ? [
          `${countOf(ragged.count, 'row')} ${ragged.count === 1 ? 'has' : 'have'} more or fewer cells than the header (first: row ${ragged.first.map(({ row }) => row).join(', ')}).`,
        ]
      : [];
  return [...mixed.slice(0, 5), ...uneven, ...profile.warnings.map(safe)];
}
