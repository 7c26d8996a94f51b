/** Notable findings of a profile, in plain sentences. Every figure is from the profile, or a share or difference of two of its figures. */
import type { ColumnProfile, TableProfile } from '../../table/table-profile.ts';
import { addsUp, countOf, exact, listed, mainMeasure, measures, percent, round, safe } from './figure.ts';
import { trend } from './findings-trend.ts';

const strong = 0.7;
/** Share of a column's sum at which a single row is worth a warning. */
const heavy = 0.1;

/** Remarks that explain the figures come before those on the quality of the data. */
const telling = new Set(
  'total flows late open unit_figures rare_state stock promoters rate planned worked worked_by durations balance balance_broken mixed_units rank period_columns period_rows period_growth period_odd period_same period_steady period_each ratio matrix margin change date_ends grid_gaps group_odd leaders outcomes hours_of_day column_means row_means counter level join'.split(
    ' ',
  ),
);
const maxOthers = 6;
const fewRows = 10;
/** A profile has at most this many groups of one column. */
const maxGroups = 300;
const minForOutliers = 8;
const valuesListed = 6;

/** The most important first. */
export function findings(profile: TableProfile): string[] {
  if (profile.rows === 0) return emptyTable(profile);
  const said = profile.remarks.map(({ kind, text }) => ({ kind, text: safe(text) }));
  return [
    ...said.filter(({ kind }) => kind === 'total').map(({ text }) => text),
    ...totals(profile),
    ...said.filter(({ kind }) => kind !== 'total' && telling.has(kind)).map(({ text }) => text),
    ...biggestGroups(profile),
    ...trend(profile),
    ...outliers(profile),
    ...weight(profile),
    ...said.filter(({ kind }) => !telling.has(kind)).map(({ text }) => text),
    ...correlations(profile),
    ...missing(profile),
    ...dataProblems(profile),
    ...smallSample(profile),
  ];
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
  return [...total(main, true), ...others.slice(0, maxOthers).flatMap((column) => total(column, false))];
}

function total(measure: ColumnProfile, isMain: boolean): string[] {
  const { sum, mean, median, min, max, count, quantiles_estimated } = measure.numbers!;
  const unit = measure.unit === undefined ? '' : ` ${safe(measure.unit)}`;
  const name = safe(measure.name);
  const middle = `mean ${round(mean)}, median ${quantiles_estimated ? 'about ' : ''}${round(median)}`;
  if (min === max) return [];
  if (!addsUp(measure))
    return [
      `${name} goes from ${exact(min)} to ${exact(max)}${unit} over ${countOf(count, 'row')} (${middle}).${measure.role === 'unclear' && count > 1 ? ` Nothing tells whether its values may be added up; if they may, they make ${exact(sum)}.` : ''}`,
    ];
  const skewed =
    isMain && median > 0 && mean / median > 1.4 ? ' The mean is well above the median, so a few large values carry the sum.' : '';
  const derived =
    measure.derived === true
      ? ` (computed row by row; the file has no such column; largest in row ${measure.numbers!.max_row}: ${exact(max)}, smallest in row ${measure.numbers!.min_row}: ${exact(min)})`
      : '';
  return [`${name} adds up to ${exact(sum)}${unit} over ${countOf(count, 'row')} (${middle}).${derived}${skewed}`];
}

function biggestGroups(profile: TableProfile): string[] {
  const main = mainMeasure(profile);
  const rated = measures(profile).find(
    (column) => column !== main && /rating|score|satisfaction|zufriedenheit|grade|note|marks?$/i.test(column.name),
  );
  return profile.groups.slice(0, 5).flatMap(({ by, values }) => {
    const own = profile.columns.find(({ name }) => name === by);
    const counted = countedValues(profile, by, values, own);
    if (main === undefined) return counted;
    const listing = values.length <= 12 ? counted : [];
    return [
      ...groupFigures(profile, by, values, main, own),
      ...overYears(values, main, own),
      ...listing,
      ...otherSums(profile, by, values, main),
      ...otherMeans(profile, by, values, main),
      ...(rated === undefined ? [] : groupFigures(profile, by, values, rated, own)),
    ];
  });
}

type GroupValues = TableProfile['groups'][number]['values'];

function countedValues(profile: TableProfile, by: string, values: GroupValues, own: ColumnProfile | undefined): string[] {
  const [first] = values;
  if (first === undefined) return [];
  const all =
    values.length <= valuesListed
      ? ` In order: ${values.map(({ value, rows }) => `${safe(value)} ${exact(rows)} (${percent(rows, profile.rows)})`).join(', ')}.`
      : '';
  const distinct = own === undefined || values.length <= valuesListed ? '' : ` ${safe(by)} has ${exact(own.distinct)} different values.`;
  const tied = values[1]?.rows === first.rows;
  if (tied)
    return [
      `${safe(by)}: ${values
        .slice(0, valuesListed)
        .map(({ value, rows }) => `${safe(value)} ${exact(rows)}`)
        .join(', ')}${values.length > valuesListed ? ' and more' : ''} (rows).${distinct}`,
    ];
  return [
    `${safe(first.value)} is the most frequent ${safe(by)}: ${exact(first.rows)} of ${countOf(profile.rows, 'row')} (${percent(first.rows, profile.rows)}).${all}${distinct}`,
  ];
}

function groupFigures(
  profile: TableProfile,
  by: string,
  values: GroupValues,
  measure: ColumnProfile,
  own: ColumnProfile | undefined,
): string[] {
  const { name } = measure;
  const additive = addsUp(measure);
  const ranked = values
    .flatMap(({ value, rows, figures }) =>
      figures[name] === undefined ? [] : [{ value, rows, figure: additive ? figures[name].sum : figures[name].mean }],
    )
    .toSorted((a, b) => b.figure - a.figure);
  const [top, last] = [ranked[0], ranked.at(-1)];
  if (top === undefined || last === undefined || top === last || top.figure === last.figure) return [];
  const tops = ranked.filter(({ figure }) => figure === top.figure).map(({ value }) => safe(value));
  const lasts = ranked.filter(({ figure }) => figure === last.figure).map(({ value }) => safe(value));
  const written = additive ? exact : round;
  const whole = measure.numbers!.sum;
  const positive = additive && last.figure >= 0 && whole > 0;
  const share = positive ? ` of ${exact(whole)} (${percent(top.figure, whole)})` : '';
  // Groups of the longest tables may be truncated; then the smallest is not known.
  const complete = values.length < maxGroups && !profile.trimmed.some((note) => note.startsWith('groups'));
  const smallest = complete ? `; ${listed(lasts, 3)} ${lasts.length === 1 ? 'has' : 'have'} the smallest: ${written(last.figure)}` : '';
  const each = ranked
    .slice(0, valuesListed)
    .map(
      ({ value, rows, figure }) =>
        `${safe(value)} ${written(figure)} (${positive ? `${percent(figure, whole)}, ` : ''}${countOf(rows, 'row')})`,
    );
  const listing =
    ranked.length > 2 || measure !== mainMeasure(profile)
      ? ` ${ranked.length <= valuesListed ? 'In order' : 'The first'}: ${each.join(', ')}.`
      : ` ${each.join(', ')}.`;
  const three =
    positive && ranked.length > valuesListed
      ? ` The first three together are ${percent(
          ranked.slice(0, 3).reduce((sum, { figure }) => sum + figure, 0),
          whole,
        )}.`
      : '';
  const without =
    own !== undefined && own.missing > 0 && additive
      ? ` ${countOf(own.missing, 'row')} without a ${safe(by)} ${own.missing === 1 ? 'is' : 'are'} in none of them.`
      : '';
  return [
    `By ${safe(by)}, ${listed(tops, 3)} ${tops.length === 1 ? 'has' : 'have'} the largest ${additive ? '' : 'mean '}${safe(name)}: ${written(top.figure)}${share}${smallest}.${listing}${three}${without}${measure.role === 'unclear' ? addedUp(values, name) : ''}`,
  ];
}

/** If it is unknown whether values are additive, their sums are reported under that condition. */
function addedUp(values: GroupValues, name: string): string {
  const sums = values.flatMap(({ value, figures }) => (figures[name] === undefined ? [] : [{ value, sum: figures[name].sum }]));
  const ranked = sums.toSorted((a, b) => b.sum - a.sum).slice(0, valuesListed);
  return ` Added up, if that means something: ${ranked.map(({ value, sum }) => `${safe(value)} ${exact(sum)}`).join(', ')}.`;
}

/** From the first year to the last, if years are in a column of their own. */
function overYears(values: GroupValues, measure: ColumnProfile, own: ColumnProfile | undefined): string[] {
  if (own?.role !== 'year' || values.length < 2) return [];
  const figureOf = (value: GroupValues[number]) => figures(value, measure);
  const ordered = values.filter((value) => figureOf(value) !== null).toSorted((a, b) => (a.value < b.value ? -1 : 1));
  const [first, last] = [ordered[0], ordered.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const [from, to] = [figureOf(first)!, figureOf(last)!];
  if (from <= 0) return [];
  const written = addsUp(measure) ? exact : round;
  return [
    `From ${safe(first.value)} (${written(from)}) to ${safe(last.value)} (${written(to)}), ${addsUp(measure) ? '' : 'the mean '}${safe(measure.name)} changes by ${to >= from ? '+' : '−'}${percent(Math.abs(to - from), from)}.`,
  ];
}

function figures({ figures: all }: GroupValues[number], measure: ColumnProfile): number | null {
  const found = all[measure.name];
  return found === undefined ? null : addsUp(measure) ? found.sum : found.mean;
}

/** The other additive columns, by a group of a few values. */
function otherSums(profile: TableProfile, by: string, values: GroupValues, main: ColumnProfile): string[] {
  if (values.length > 8) return [];
  return measures(profile)
    .filter((column) => column !== main && addsUp(column))
    .slice(0, 2)
    .flatMap(({ name }) => {
      const ranked = values
        .flatMap(({ value, figures }) => (figures[name] === undefined ? [] : [{ value, sum: figures[name].sum }]))
        .toSorted((a, b) => b.sum - a.sum);
      if (ranked.length < 2) return [];
      return [`${safe(name)} by ${safe(by)}: ${ranked.map(({ value, sum }) => `${safe(value)} ${exact(sum)}`).join(', ')}.`];
    });
}

/** The means of columns that are not additive, by a group of a few values. */
function otherMeans(profile: TableProfile, by: string, values: GroupValues, main: ColumnProfile): string[] {
  if (values.length > 8 || values.length < 2) return [];
  return measures(profile)
    .filter((column) => column !== main && !addsUp(column))
    .slice(0, 3)
    .flatMap(({ name }) => {
      const ranked = values
        .flatMap(({ value, figures }) => (figures[name] === undefined ? [] : [{ value, mean: figures[name].mean }]))
        .toSorted((a, b) => b.mean - a.mean);
      if (ranked.length < 2) return [];
      return [`Mean ${safe(name)} by ${safe(by)}: ${ranked.map(({ value, mean }) => `${safe(value)} ${round(mean)}`).join(', ')}.`];
    });
}

function smallSample(profile: TableProfile): string[] {
  if (profile.rows >= fewRows) return [];
  return [
    `There ${profile.rows === 1 ? 'is' : 'are'} only ${countOf(profile.rows, 'row')}; ${profile.rows === 1 ? 'nothing can be compared' : 'means, shares and changes over so few are no more than a hint'}.`,
  ];
}

/** Values more than three times the interquartile range away; closer ones only if they are few. */
function outliers(profile: TableProfile): string[] {
  return measures(profile).flatMap(({ name, numbers }) => {
    const { outliers: found, q1, q3, count } = numbers!;
    const reach = 3 * (q3 - q1);
    // Quartiles of a few rows are not meaningful.
    if (count < minForOutliers) return [];
    const few = count >= 20 && found.count <= Math.max(2, count * 0.02);
    const telling = found.most_extreme.filter(
      ({ value }) => few || (found.count <= Math.max(1, count * 0.1) && (value < q1 - reach || value > q3 + reach)),
    );
    return telling.slice(0, 3).map(({ row, value, cells }) => {
      const rest = Object.entries(cells)
        .filter(([column, cell]) => column !== name && cell !== '')
        .slice(0, 4)
        .map(([column, cell]) => `${safe(column)} ${safe(cell)}`);
      return `Outlier: row ${row} has ${safe(name)} ${exact(value)}, far from the usual ${round(q1)} to ${round(q3)}${rest.length > 0 ? ` (${rest.join(', ')})` : ''}.`;
    });
  });
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
    top.value < measure.numbers.sum * heavy
  )
    return [];
  const group = profile.groups.find(({ by }) => (top.cells[by] ?? '') !== '');
  const own = group?.values.find(({ value }) => value === top.cells[group.by]);
  const sum = own?.figures[measure.name]?.sum;
  const without =
    sum === undefined || sum === top.value
      ? ''
      : ` Without it ${safe(own!.value)} would be at ${exact(Number((sum - top.value).toPrecision(12)))} instead of ${exact(sum)}.`;
  return [
    `Row ${top.row} alone is ${percent(top.value, measure.numbers.sum)} of all ${safe(measure.name)}; check it before relying on the totals.${without}`,
  ];
}

function correlations(profile: TableProfile): string[] {
  const known = new Set(measures(profile).map(({ name }) => name));
  const related = profile.remarks.filter(({ kind }) => kind === 'relation' || kind === 'relation_broken').map(({ text }) => text);
  const follows = (a: string, b: string) => related.some((text) => text.includes(a) && text.includes(b));
  return profile.correlations
    .filter(({ columns }) => !follows(...columns))
    .filter(({ columns, r, rows }) => Math.abs(r) >= strong && rows >= 8 && columns.every((name) => known.has(name)))
    .slice(0, 3)
    .map(
      ({ columns: [a, b], r, rows }) =>
        `${safe(a)} and ${safe(b)} ${r > 0 ? 'rise together' : 'move against each other'} (correlation ${r.toFixed(2)} over ${exact(rows)} rows); that is no proof of cause.`,
    );
}

function missing(profile: TableProfile): string[] {
  const gaps = profile.columns.filter((column) => column.missing > 0).toSorted((a, b) => b.missing - a.missing);
  if (gaps.length === 0) return ['No cell is missing.'];
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
