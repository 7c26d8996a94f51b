/** What stands out in a profile, in plain sentences. Every figure is the profile's own or a plain share or difference of two of them. */
import type { TableProfile } from '../../tools/table/table-profile.ts';
import { addsUp, countOf, exact, keyFigure, mainMeasure, measures, percent, round, safe } from './figure.ts';

const strong = 0.7;
/** Share of a column's sum at which a single row is worth a warning. */
const heavy = 0.1;

/** The most telling first. */
export function findings(profile: TableProfile): string[] {
  if (profile.rows === 0) return ['The table has no rows.'];
  return [
    ...totals(profile),
    ...biggestGroups(profile),
    ...outliers(profile),
    ...weight(profile),
    ...trend(profile),
    ...correlations(profile),
    ...missing(profile),
    ...oddities(profile),
  ];
}

function totals(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  if (measure?.numbers === undefined) return [];
  const { sum, mean, median, min, max, count, quantiles_estimated } = measure.numbers;
  const name = safe(measure.name);
  const middle = `mean ${round(mean)}, median ${quantiles_estimated ? 'about ' : ''}${round(median)}`;
  if (!addsUp(measure)) return [`${name} goes from ${exact(min)} to ${exact(max)} over ${countOf(count, 'row')} (${middle}).`];
  const skewed = median > 0 && mean / median > 1.4 ? ' The mean is well above the median, so a few large values carry the sum.' : '';
  return [`${name} adds up to ${exact(sum)} over ${countOf(count, 'row')} (${middle}).${skewed}`];
}

function biggestGroups(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  return profile.groups.slice(0, 3).flatMap(({ by, values }) => {
    const [first] = values;
    if (first === undefined) return [];
    if (measure?.numbers === undefined) {
      return [
        `${safe(first.value)} is the most frequent ${safe(by)}: ${exact(first.rows)} of ${countOf(profile.rows, 'row')} (${percent(first.rows, profile.rows)}).`,
      ];
    }
    const { name } = measure;
    const additive = addsUp(measure);
    const ranked = values
      .flatMap(({ value, figures }) =>
        figures[name] === undefined ? [] : [{ value, figure: additive ? figures[name].sum : figures[name].mean }],
      )
      .toSorted((a, b) => b.figure - a.figure);
    const [top, last] = [ranked[0], ranked.at(-1)];
    if (top === undefined || last === undefined || top === last) return [];
    const written = additive ? exact : round;
    const whole = measure.numbers.sum;
    const share = additive && last.figure >= 0 && whole > 0 ? ` of ${exact(whole)} (${percent(top.figure, whole)})` : '';
    return [
      `By ${safe(by)}, ${safe(top.value)} has the largest ${additive ? '' : 'mean '}${safe(name)}: ${written(top.figure)}${share}; ${safe(last.value)} has the smallest: ${written(last.figure)}.`,
    ];
  });
}

/** Values three times the interquartile range away always; milder ones only where they are few. */
function outliers(profile: TableProfile): string[] {
  return measures(profile).flatMap(({ name, numbers }) => {
    const { outliers: found, q1, q3, count } = numbers!;
    const reach = 3 * (q3 - q1);
    const few = found.count <= Math.max(2, count * 0.02);
    const telling = found.most_extreme.filter(
      ({ value }) => few || (found.count <= count * 0.1 && (value < q1 - reach || value > q3 + reach)),
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

/** One row that makes up much of a sum distorts every figure it is in. */
function weight(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  const top = measure?.numbers?.outliers.most_extreme.find(({ value }) => value === measure.numbers!.max);
  if (
    measure?.numbers === undefined ||
    top === undefined ||
    measure.numbers.min + measure.numbers.sum <= 0 ||
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

function trend(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  const additive = measure === undefined || addsUp(measure);
  const points = (profile.trend?.points ?? []).filter(({ figures }) => additive || figures[measure.name] !== undefined);
  if (profile.trend === null || points.length < 3) return [];
  const { period } = profile.trend;
  const figureOf = (point: (typeof points)[number]) => keyFigure(point, measure);
  const what = measure === undefined ? 'the number of rows' : `${additive ? '' : 'the mean '}${safe(measure.name)}`;
  const written = additive ? exact : round;
  const ranked = points.toSorted((a, b) => figureOf(b) - figureOf(a));
  const [top, low] = [ranked[0]!, ranked.at(-1)!];
  const sentences = [
    `By ${period}, ${what} was highest in ${top.period} (${written(figureOf(top))}) and lowest in ${low.period} (${written(figureOf(low))}).`,
  ];
  if (!additive) return sentences;
  const half = Math.floor(points.length / 2);
  const total = (part: typeof points) => part.reduce((sum, point) => sum + figureOf(point), 0);
  const [before, after] = [total(points.slice(0, half)), total(points.slice(-half))];
  if (before > 0 && after > 0 && Math.abs(after / before - 1) >= 0.1) {
    sentences.push(
      `The last ${half} ${period}s together are ${percent(Math.abs(after - before), before)} ${after > before ? 'above' : 'below'} the first ${half}.`,
    );
  }
  return sentences;
}

function correlations(profile: TableProfile): string[] {
  const known = new Set(measures(profile).map(({ name }) => name));
  return profile.correlations
    .filter(({ columns, r }) => Math.abs(r) >= strong && columns.every((name) => known.has(name)))
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

function oddities(profile: TableProfile): string[] {
  const { ragged_rows: ragged } = profile;
  const mixed = profile.columns
    .filter(({ unlike }) => unlike !== undefined)
    .map(
      ({ name, unlike }) =>
        `${safe(name)} holds ${exact(unlike!.count)} cells unlike the others (${unlike!.examples.map(safe).join(', ')}).`,
    );
  const uneven =
    ragged.count > 0
      ? [
          `${exact(ragged.count)} rows have more or fewer cells than the header (first: row ${ragged.first.map(({ row }) => row).join(', ')}).`,
        ]
      : [];
  return [...mixed.slice(0, 5), ...uneven, ...profile.warnings.map(safe)];
}
