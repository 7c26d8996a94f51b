/** Findings on the groups of a table: the largest and the smallest, their shares, their other figures. */
import { clean } from '../../table/columns-in-memory.ts';
import { withoutEqualGroups } from '../../table/equal-groups.ts';
import { largestKept } from '../../table/fit-profile.ts';
import { mayBeSame } from '../../table/same-value.ts';
import type { ColumnProfile, Figures, GroupProfile, TableProfile } from '../../table/table-profile.ts';
import { addsUp, countOf, exact, groupedRows, listed, mainMeasure, measures, percent, round, safe, safeValue } from './figure.ts';

/** A profile has at most this many groups of one column. */
const maxGroups = 300;
const maxGroupings = 6;
const valuesListed = 6;
const minForMean = 10;
const minTimesFewer = 3;
const minRanked = 3;
const muchOfGroup = 0.25;
const maxCompared = 60;

export function biggestGroups(profile: TableProfile): string[] {
  const main = mainMeasure(profile);
  const rated = measures(profile).find(
    (column) => column !== main && /rating|score|satisfaction|zufriedenheit|grade|note|marks?$/i.test(column.name),
  );
  return withoutEqualGroups(profile.groups)
    .slice(0, maxGroupings)
    .flatMap((group) => {
      const { by, values } = group;
      const own = profile.columns.find(({ name }) => name === by);
      const counted = countedValues(profile, group, own);
      if (main === undefined) return counted;
      const listing = values.length <= 12 ? counted : [];
      return [
        ...groupFigures(profile, group, main, own),
        ...overYears(values, main, own),
        ...listing,
        ...otherSums(profile, by, values, main),
        ...(main.derived === true ? [] : otherMeans(profile, by, values, main)),
        ...(rated === undefined ? [] : groupFigures(profile, group, rated, own)),
      ];
    });
}

type GroupValues = GroupProfile['values'];

/** The figures that differ if nothing is left out. */
function withLeftOut(values: GroupValues, measure: ColumnProfile): string {
  const figure = (figures: Record<string, Figures>) => (addsUp(measure) ? figures[measure.name]?.sum : figures[measure.name]?.mean);
  const written = addsUp(measure) ? exact : round;
  const each = values.flatMap(({ value, figures, all }) => {
    const whole = all === undefined ? undefined : figure(all.figures);
    return whole === undefined || whole === figure(figures) ? [] : [`${safeValue(value)} ${written(whole)}`];
  });
  return each.length === 0 ? '' : ` With what the figures leave out: ${listed(each, valuesListed)}.`;
}

/** Groups may be shortened to those with most rows and the largest figures; then the smallest is not known, and only the first `largestKept` are. */
function isComplete({ values, shortened }: GroupProfile): boolean {
  return values.length < maxGroups && shortened !== true;
}

function countedValues(profile: TableProfile, group: GroupProfile, own: ColumnProfile | undefined): string[] {
  const { by, values } = group;
  const [first] = values;
  if (first === undefined) return [];
  const whole = groupedRows(profile, group);
  const all =
    values.length <= valuesListed
      ? ` In order: ${values.map(({ value, rows }) => `${safeValue(value)} ${exact(rows)} (${percent(rows, whole)})`).join(', ')}.`
      : '';
  // The column counts each spelling; the groups count a value once.
  const different = isComplete(group) ? values.length : own?.distinct;
  const distinct = different === undefined || values.length <= valuesListed ? '' : ` ${safe(by)} has ${exact(different)} different values.`;
  const tied = values[1]?.rows === first.rows;
  if (tied)
    return [
      `${safe(by)}: ${values
        .slice(0, valuesListed)
        .map(({ value, rows }) => `${safeValue(value)} ${exact(rows)}`)
        .join(', ')}${values.length > valuesListed ? ` and ${exact(values.length - valuesListed)} more` : ''} (rows).${distinct}`,
    ];
  return [
    `${safeValue(first.value)} is the most frequent ${safe(by)}: ${exact(first.rows)} of ${countOf(whole, 'row')} (${percent(first.rows, whole)}).${all}${distinct}`,
  ];
}

function groupFigures(profile: TableProfile, group: GroupProfile, measure: ColumnProfile, own: ColumnProfile | undefined): string[] {
  const { by, values } = group;
  const { name } = measure;
  const additive = addsUp(measure);
  const ranked = values
    .flatMap(({ value, rows, figures }) =>
      figures[name] === undefined ? [] : [{ value, rows, figure: additive ? figures[name].sum : figures[name].mean }],
    )
    .toSorted((a, b) => b.figure - a.figure);
  const { safe: compared, note } = comparable(ranked);
  const [top, last] = [additive ? ranked[0] : compared[0], compared.at(-1)];
  if (top === undefined || last === undefined || top === last || top.figure === last.figure) return [];
  const tops = (additive ? ranked : compared).filter(({ figure }) => figure === top.figure).map(({ value }) => safeValue(value));
  const lasts = compared.filter(({ figure }) => figure === last.figure).map(({ value }) => safeValue(value));
  const written = additive ? exact : round;
  const complete = isComplete(group);
  // The figures by the status have the rows that do not count too.
  const whole = group.is_status ? clean(ranked.reduce((sum, { figure }) => sum + figure, 0)) : measure.numbers!.sum;
  const positive = additive && last.figure >= 0 && whole > 0;
  const share = positive ? ` of ${exact(whole)} (${percent(top.figure, whole)})` : '';
  const smallest = complete ? `; ${listed(lasts, 3)} ${lasts.length === 1 ? 'has' : 'have'} the smallest: ${written(last.figure)}` : '';
  const each = ranked
    .slice(0, complete ? valuesListed : largestKept)
    .map(
      ({ value, rows, figure }) =>
        `${safeValue(value)} ${written(figure)} (${positive ? `${percent(figure, whole)}, ` : ''}${countOf(rows, 'row')})`,
    );
  const listing =
    ranked.length > 2 || measure !== mainMeasure(profile)
      ? ` ${each.length === ranked.length ? 'In order' : 'The first'}: ${each.join(', ')}.`
      : ` ${each.join(', ')}.`;
  const three =
    positive && ranked.length > valuesListed
      ? ` The first three together are ${percent(
          ranked.slice(0, 3).reduce((sum, { figure }) => sum + figure, 0),
          whole,
        )}.`
      : '';
  const missing = complete ? groupedRows(profile, group) - values.reduce((sum, { rows }) => sum + rows, 0) : (own?.missing ?? 0);
  const without =
    own !== undefined && own.missing > 0 && missing > 0 && additive
      ? ` ${countOf(missing, 'row')} without a ${safe(by)} ${missing === 1 ? 'is' : 'are'} in none of them.`
      : '';
  return [
    `By ${safe(by)}, ${listed(tops, 3)} ${tops.length === 1 ? 'has' : 'have'} the largest ${additive ? '' : 'mean '}${safe(name)}: ${written(top.figure)}${share}${smallest}.${listing}${three}${without}${note}${openNote(ranked, additive)}${additive ? '' : fewRows(ranked)}${withLeftOut(values, measure)}${measure.role === 'unclear' ? addedUp(values, name) : ''}${additive ? leaderWithout(measure, group) : ''}`,
  ];
}

/** What the leading group has without the largest single value of the column, if that is much of it; another group may lead then. */
function leaderWithout({ name, numbers }: ColumnProfile, { by, values }: GroupProfile): string {
  const top = numbers!.outliers.most_extreme.find(({ value }) => value === numbers!.max);
  if (top === undefined || (top.cells[by] ?? '') === '') return '';
  const sums = values.flatMap(({ value, figures }) => {
    const sum = figures[name]?.sum;
    return sum === undefined ? [] : [{ value, sum, rest: clean(sum - (value === top.cells[by] ? top.value : 0)) }];
  });
  const leader = sums.toSorted((a, b) => b.sum - a.sum)[0];
  if (sums.length < 2) return '';
  const [first, second] = sums.toSorted((a, b) => b.rest - a.rest);
  if (leader === undefined || leader.value !== top.cells[by] || first === undefined) return '';
  if (first.value === leader.value)
    return top.value > leader.sum * muchOfGroup && top.value > second!.sum * muchOfGroup
      ? ` Without row ${top.row} (${exact(top.value)}), ${safeValue(leader.value)} still leads, with ${exact(leader.rest)}.`
      : '';
  if (second === undefined || first.rest === second.rest) return '';
  return ` Without row ${top.row} (${exact(top.value)}), ${safeValue(first.value)} leads: ${safeValue(first.value)} ${exact(first.rest)}, ${safeValue(leader.value)} ${exact(leader.rest)}.`;
}

type Ranked = { value: string; rows: number; figure: number };

/** The groups among which the smallest, and of means the largest, are told: not those of one or two rows, nor those that may be another group. */
function comparable(ranked: readonly Ranked[]): { safe: readonly Ranked[]; note: string } {
  const most = Math.max(0, ...ranked.map(({ rows }) => rows));
  const few = most < minForMean ? [] : ranked.filter(({ rows }) => rows < minRanked);
  const open = openGroups(ranked).map(([group]) => group);
  const safe = ranked.filter((group) => !few.includes(group) && !open.includes(group));
  if (safe.length < 2) return { safe: ranked, note: '' };
  const named = few.filter((group) => !open.includes(group));
  return {
    safe,
    note:
      named.length === 0
        ? ''
        : ` Not ranked, because of one or two rows: ${listed(
            named.map(({ value }) => safeValue(value)),
            valuesListed,
          )}.`,
  };
}

/** Groups that may be another group in another spelling. */
function openGroups(ranked: readonly Ranked[]): [Ranked, Ranked][] {
  if (ranked.length > maxCompared) return [];
  return ranked.flatMap((rare): [Ranked, Ranked][] => {
    const common = ranked.filter((each) => each !== rare && mayBeSame(rare, each));
    return common.length === 1 ? [[rare, common[0]!]] : [];
  });
}

/** That they are not ranked, and what the sums are together. */
function openNote(ranked: readonly Ranked[], additive: boolean): string {
  return openGroups(ranked)
    .slice(0, valuesListed)
    .map(([rare, common]) => {
      if (!additive) return ` ${safeValue(rare.value)} may be ${safeValue(common.value)} and is not ranked.`;
      const sum = clean(rare.figure + common.figure);
      const leads = ranked.every((each) => each === rare || each === common || each.figure < sum) && common !== ranked[0];
      return ` ${safeValue(rare.value)} may be ${safeValue(common.value)} and is not ranked; together they have ${exact(sum)}${leads ? ', more than any other' : ''}.`;
    })
    .join('');
}

/** A mean of few rows beside means of many is no safe comparison. */
function fewRows(ranked: readonly { value: string; rows: number }[]): string {
  const most = Math.max(...ranked.map(({ rows }) => rows));
  const few = ranked.filter(({ rows }) => rows < minForMean && rows * minTimesFewer <= most);
  if (few.length === 0) return '';
  return ` ${listed(
    few.map(({ value, rows }) => `${safeValue(value)} rests on only ${countOf(rows, 'row')}`),
    3,
  )}, too few for a safe comparison with the others.`;
}

/** If it is unknown whether values are additive, their sums are reported under that condition. */
function addedUp(values: GroupValues, name: string): string {
  const sums = values.flatMap(({ value, figures }) => (figures[name] === undefined ? [] : [{ value, sum: figures[name].sum }]));
  const ranked = sums.toSorted((a, b) => b.sum - a.sum).slice(0, valuesListed);
  return ` Added up, if that means something: ${ranked.map(({ value, sum }) => `${safeValue(value)} ${exact(sum)}`).join(', ')}.`;
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
    `From ${safeValue(first.value)} (${written(from)}) to ${safeValue(last.value)} (${written(to)}), ${addsUp(measure) ? '' : 'the mean '}${safe(measure.name)} changes by ${to >= from ? '+' : '−'}${percent(Math.abs(to - from), from)}.`,
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
      return [`${safe(name)} by ${safe(by)}: ${ranked.map(({ value, sum }) => `${safeValue(value)} ${exact(sum)}`).join(', ')}.`];
    });
}

/** The means of columns that are not additive, by a group of a few values. */
function otherMeans(profile: TableProfile, by: string, values: GroupValues, main: ColumnProfile): string[] {
  if (values.length > 8 || values.length < 2) return [];
  return (
    measures(profile)
      // The mean of a running balance over entries has no meaning.
      .filter(
        (column) =>
          column !== main &&
          !addsUp(column) &&
          !profile.remarks.some(({ kind, text }) => kind.startsWith('balance') && text.startsWith(column.name)),
      )
      .slice(0, 3)
      .flatMap(({ name }) => {
        const ranked = values
          .flatMap(({ value, figures }) => (figures[name] === undefined ? [] : [{ value, mean: figures[name].mean }]))
          .toSorted((a, b) => b.mean - a.mean);
        if (ranked.length < 2) return [];
        return [`Mean ${safe(name)} by ${safe(by)}: ${ranked.map(({ value, mean }) => `${safeValue(value)} ${round(mean)}`).join(', ')}.`];
      })
  );
}
