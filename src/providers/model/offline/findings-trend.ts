/** Changes of figures over time: the best and the worst period, first to last, the largest steps, and the same by longer periods. */

import { parseDate } from '../../table/date-format.ts';
import { isRatingName } from '../../table/findings/ratings.ts';
import { isAttributeDate } from '../../table/plan-figures.ts';
import type { ColumnProfile, Figures, TableProfile, TrendProfile } from '../../table/table-profile.ts';
import { addsUp, countOf, exact, keyFigure, listed, mainMeasure, percent, round, safe } from './figure.ts';
import { hasWholeYears, yearFindings } from './findings-years.ts';

const maxOtherTrends = 3;
/** Share of half of the periods at which one value is told apart. */
const minWeight = 0.2;
const maxLonger = 12;
const maxListed = 12;
const maxGaps = 3;
const daysOfWeek = 7;
const minDaysOfMonth = 24;
const maxDaysOfMonth = 31;
const dayMs = 86_400_000;
const hourMs = 3_600_000;

export function trend(profile: TableProfile): string[] {
  const measure = mainMeasure(profile);
  const additive = measure === undefined || addsUp(measure);
  const points = (profile.trend?.points ?? []).filter(({ figures }) => measure === undefined || figures[measure.name] !== undefined);
  if (profile.trend === null || points.length < 3) return [];
  // Figures by dates of entry or birth are no development; nor are those of single answers to a survey.
  const perPeriod = profile.rows / points.length;
  const single = measure !== undefined && perPeriod < 3 && isRatingName(measure.name);
  if ((!additive && single) || isAttributeDate(profile.trend.date_column, profile.columns)) return [];
  // A mean over the readings of several counters has no meaning.
  if (measure !== undefined && isCounter(profile, measure)) return [];
  const { period } = profile.trend;
  const figureOf = (point: (typeof points)[number]) => keyFigure(point, measure);
  const what = measure === undefined ? 'the number of rows' : `${additive ? '' : 'the mean '}${safe(measure.name)}`;
  const written = additive ? exact : round;
  const ranked = points.toSorted((a, b) => figureOf(b) - figureOf(a));
  const [top, low] = [ranked[0]!, ranked.at(-1)!];
  if (figureOf(top) === figureOf(low)) return [];
  const tiedWith = (figure: number) => {
    const tied = ranked.filter((point) => figureOf(point) === figure).map((point) => point.period);
    return tied.length > 3 ? `${tied.slice(0, 3).join(', ')} and ${tied.length - 3} more` : tied.toSorted().join(' and ');
  };
  const byYears = hasWholeYears(profile);
  const carried = withoutLargest(profile, measure, ranked);
  const sentences = [
    ...yearFindings(profile),
    `By ${period}, ${what} was highest in ${tiedWith(figureOf(top))} (${written(figureOf(top))}) and lowest in ${tiedWith(figureOf(low))} (${written(figureOf(low))}).${carried}`,
  ];
  sentences.push(...eachPeriod(profile, measure, points));
  if (isSparse(profile, points.length)) return [...sentences, ...otherTrends(profile, measure, period), ...longerPeriods(profile, measure)];
  const partial = additive ? partialEnds(profile) : { first: false, last: false };
  const compared = points.slice(partial.first ? 1 : 0, partial.last ? -1 : undefined);
  const last = compared.at(-1) ?? points.at(-1)!;
  const first = sameMonth(period, compared, last) ?? compared[0] ?? points[0]!;
  const [from, to] = [figureOf(first), figureOf(last)];
  const weeks = period === 'day' ? firstAndLastWeek(points, figureOf) : null;
  if (weeks !== null) sentences.push(`${what.replace(/^the /, 'The ')} ${weeks}.`);
  else if (from > 0 && first !== last && !byYears)
    sentences.push(
      `From ${first.period} (${written(from)}) to ${last.period} (${written(to)}) ${what} changes by ${to >= from ? '+' : '−'}${percent(Math.abs(to - from), from)}${perRow(period, measure, first, last)}.`,
    );
  const stepTexts = steps(
    period,
    compared.map((point) => ({ period: point.period, figure: figureOf(point) })),
    written,
  );
  sentences.push(...stepTexts.map((text) => (carried !== '' && text.includes(`${top.period} (`) ? `${text}${carried}` : text)));
  if (!additive) return sentences;
  const half = Math.floor(points.length / 2);
  const total = (part: typeof points) => part.reduce((sum, point) => sum + figureOf(point), 0);
  const [before, after] = [total(points.slice(0, half)), total(points.slice(-half))];
  // One period far above all others may decide which half is the larger.
  const isInLast = points.indexOf(top) >= points.length - half;
  const largest = measure?.numbers?.outliers.most_extreme.find(({ value }) => value === measure.numbers!.max)?.value ?? 0;
  const isDecided = largest > 0 && figureOf(top) >= largest && (isInLast ? after - largest < before : after > before - largest);
  const isSafe = after > before === isInLast ? !isDecided : true;
  const [restBefore, restAfter] = isInLast ? [before, after - largest] : [before - largest, after];
  const isCarried = largest > before * minWeight && figureOf(top) >= largest && restBefore > 0;
  const rest = isCarried
    ? ` (without the largest value, ${written(largest)}: ${percent(Math.abs(restAfter - restBefore), restBefore)} ${restAfter > restBefore ? 'above' : 'below'})`
    : '';
  const isToldByWeeks = weeks !== null && half === daysOfWeek;
  if (!byYears && !isToldByWeeks && half >= 3 && before > 0 && after > 0 && isSafe && Math.abs(after / before - 1) >= 0.1) {
    sentences.push(
      `The last ${half} ${period}s${skipsDays(period, points) ? ' with rows' : ''} together have ${percent(Math.abs(after - before), before)} ${after > before ? 'more' : 'less'} ${measure === undefined ? 'rows' : safe(measure.name)} than the first ${half}${rest}.`,
    );
  }
  return [...sentences, ...otherTrends(profile, measure, period), ...longerPeriods(profile, measure), ...partialPeriods(profile)];
}

/** Months differ in length: the means of their days, where each day has a row. */
function perRow(
  period: string,
  measure: ColumnProfile | undefined,
  first: TrendProfile['points'][number],
  last: TrendProfile['points'][number],
): string {
  if (period !== 'month' || measure === undefined || !addsUp(measure)) return '';
  const [from, to] = [first, last].map(({ figures }) => figures[measure.name]!) as [Figures, Figures];
  const isDaily = ({ count }: Figures) => count >= minDaysOfMonth && count <= maxDaysOfMonth;
  return isDaily(from) && isDaily(to) ? `; a day ${round(from.mean)} to ${round(to.mean)} on average` : '';
}

/** Single days differ by their day of the week: the means of the first and the last seven days, if every day of both has a figure. */
function firstAndLastWeek<P extends { period: string }>(points: readonly P[], figureOf: (point: P) => number): string | null {
  const [first, last] = [points.slice(0, daysOfWeek), points.slice(-daysOfWeek)];
  const isWhole = (week: readonly P[]) => periodNumber(week.at(-1)!.period) - periodNumber(week[0]!.period) === daysOfWeek - 1;
  if (points.length < 2 * daysOfWeek || !isWhole(first) || !isWhole(last)) return null;
  const [from, to] = [first, last].map((week) => week.reduce((sum, point) => sum + figureOf(point), 0) / daysOfWeek) as [number, number];
  if (from <= 0) return null;
  return `is ${round(from)} a day on average in the first seven days and ${round(to)} in the last (${to >= from ? '+' : '−'}${percent(Math.abs(to - from), from)})`;
}

/** Of more than a year of months, the first that is the month of the last one: other months may differ by their season. */
function sameMonth<P extends { period: string }>(period: string, points: readonly P[], last: P): P | undefined {
  if (period !== 'month' || points.length < 13) return undefined;
  return points.find((point) => point !== last && point.period.slice(5) === last.period.slice(5));
}

/** What the highest period has without the largest single value, where that value makes a good part of its lead. */
function withoutLargest(profile: TableProfile, measure: ColumnProfile | undefined, ranked: TrendProfile['points']): string {
  const value = measure?.numbers?.outliers.most_extreme.find((extreme) => extreme.value === measure.numbers!.max);
  const [top, second, low] = [ranked[0]!, ranked[1]!, ranked.at(-1)!];
  const own = measure === undefined ? undefined : top.figures[measure.name];
  const date = value?.cells[profile.trend!.date_column] ?? '';
  if (value === undefined || own === undefined || own.count < 2 || !isWithin(date, top.period)) return '';
  const figureOf = (point: TrendProfile['points'][number]) => keyFigure(point, measure);
  const rest = Number((addsUp(measure!) ? own.sum - value.value : (own.sum - value.value) / (own.count - 1)).toPrecision(12));
  if (figureOf(top) - rest < (figureOf(top) - figureOf(low)) * minWeight) return '';
  const written = addsUp(measure!) ? exact : round;
  const next = figureOf(second) > rest ? `, and ${second.period} (${written(figureOf(second))}) would be highest` : '';
  return ` Without row ${value.row} (${exact(value.value)}), ${top.period} would have ${written(rest)}${next}.`;
}

/** Whether a date in the file's own notation is in the period, such as 2031-04 or 2031-04-03. */
function isWithin(date: string, period: string): boolean {
  if (date.startsWith(period)) return true;
  return (['day_first', 'month_first'] as const).some((order) => {
    const ms = parseDate(date, order)?.ms;
    return ms !== undefined && new Date(ms).toISOString().startsWith(period);
  });
}

function skipsDays(period: TrendProfile['period'], points: TrendProfile['points']): boolean {
  const [first, last] = [Date.parse(points[0]!.period), Date.parse(points.at(-1)!.period)];
  return period === 'day' && (last - first) / dayMs + 1 > points.length;
}

/** All of a few months, quarters or years, beside the figures with what the others leave out. */
function eachPeriod({ trend: found }: TableProfile, measure: ColumnProfile | undefined, points: TrendProfile['points']): string[] {
  if (measure === undefined || !addsUp(measure) || points.length > maxListed || found!.period === 'day' || found!.period === 'hour')
    return [];
  const each = points.map(({ period, figures, all }) => {
    const [own, whole] = [figures[measure.name]!.sum, all?.figures[measure.name]?.sum];
    return `${period} ${exact(own)}${whole === undefined || whole === own ? '' : ` (${exact(whole)} with what the figures leave out)`}`;
  });
  return [`${safe(measure.name)} by ${found!.period}: ${each.join(', ')}.`];
}

function isCounter({ remarks }: TableProfile, { name }: ColumnProfile): boolean {
  return remarks.some(({ kind, text }) => kind === 'counter' && text.includes(`${name} is a counter`));
}

/** Single events on some days of many: the change from the first to the last says nothing. */
function isSparse({ trend: found, columns, rows }: TableProfile, points: number): boolean {
  const dates = columns.find(({ name }) => name === found?.date_column)?.dates;
  if (found?.period !== 'day' || dates === undefined || rows >= points * 2) return false;
  const days = (Date.parse(dates.last.slice(0, 10)) - Date.parse(dates.first.slice(0, 10))) / 86_400_000 + 1;
  return points < days * 0.6 && rows < 40;
}

/** The best and the worst period of the other additive columns. */
function otherTrends({ trend: found, columns }: TableProfile, main: ColumnProfile | undefined, period: string): string[] {
  return columns
    .filter((column) => column.name !== main?.name && column.numbers !== undefined && addsUp(column))
    .slice(0, maxOtherTrends)
    .flatMap(({ name }) => {
      const points = (found?.points ?? []).flatMap(({ period: at, figures }) =>
        figures[name] === undefined ? [] : [{ at, sum: figures[name].sum }],
      );
      const ranked = points.toSorted((a, b) => b.sum - a.sum);
      const [top, low] = [ranked[0], ranked.at(-1)];
      if (top === undefined || low === undefined || points.length < 3) return [];
      if (top.sum === low.sum) return [];
      const sharing = (sum: number) => ranked.filter((point) => point.sum === sum).map(({ at }) => at);
      const called = (sum: number) =>
        sharing(sum).length > 3 ? `${sharing(sum).length} ${period}s` : sharing(sum).toSorted().join(' and ');
      return [
        `By ${period}, ${safe(name)} was highest in ${called(top.sum)} (${exact(top.sum)}) and lowest in ${called(low.sum)} (${exact(low.sum)}).`,
      ];
    });
}

/** For figures by day, the months too; for figures by month, the quarters and the years. */
function longerPeriods(profile: TableProfile, measure: ColumnProfile | undefined): string[] {
  const { trend: found } = profile;
  if (found === null || (measure !== undefined && !addsUp(measure))) return [];
  const keys: ((period: string) => string)[] =
    found.period === 'day'
      ? [(period) => period.slice(0, 7)]
      : found.period === 'month'
        ? [
            (period) => `${period.slice(0, 4)} Q${Math.ceil(Number(period.slice(5, 7)) / 3)}`,
            ...(hasWholeYears(profile) ? [] : [(period: string) => period.slice(0, 4)]),
          ]
        : found.period === 'quarter'
          ? [(period) => period.slice(0, 4)]
          : [];
  return keys.flatMap((key, i) => {
    const sums = new Map<string, { sum: number; parts: number }>();
    for (const point of found.points) {
      // A period whose cells are all missing has no figure; it is not 0.
      if (measure !== undefined && point.figures[measure.name] === undefined) continue;
      const own = sums.get(key(point.period)) ?? { sum: 0, parts: 0 };
      sums.set(key(point.period), own);
      own.sum += keyFigure(point, measure);
      own.parts++;
    }
    if (sums.size < 2 || sums.size > maxLonger) return [];
    const isWhole = measure === undefined || found.points.every(({ figures }) => figures[measure.name] !== undefined);
    const each = [...sums].map(
      ([name, { sum, parts }]) =>
        `${name} ${exact(Number(sum.toPrecision(12)))} (${countOf(parts, found.period)} with ${isWhole ? 'rows' : 'a value'})`,
    );
    const called = found.period === 'day' ? 'month' : found.period === 'month' && i === 0 ? 'quarter' : 'year';
    return [`${measure === undefined ? 'Rows' : safe(measure.name)} by ${called}: ${each.join(', ')}.`];
  });
}

/** The largest rise and the largest fall from one period to the next; a step over missing periods is none. */
function steps(unit: string, points: readonly { period: string; figure: number }[], written: (value: number) => string): string[] {
  const all = points.slice(1).map(({ period, figure }, i) => {
    const { period: from, figure: before } = points[i]!;
    return { from, to: period, before, after: figure, length: periodNumber(period) - periodNumber(from) };
  });
  const usual = mostFrequent(all.map(({ length }) => length));
  const moves = all.filter(({ before, length }) => before > 0 && length === usual);
  if (moves.length < 3) return [];
  const ranked = moves.toSorted((a, b) => b.after - b.before - (a.after - a.before));
  const [rise, fall] = [ranked[0]!, ranked.at(-1)!];
  const say = ({ from, to, before, after }: (typeof moves)[number]) =>
    `from ${from} (${written(before)}) to ${to} (${written(after)}), ${after >= before ? '+' : '−'}${percent(Math.abs(after - before), before)}`;
  const parts = [
    ...(rise.after > rise.before ? [`the largest rise is ${say(rise)}`] : []),
    ...(fall.after < fall.before ? [`the largest fall ${say(fall)}`] : []),
  ];
  const gaps = all.filter(({ length }) => length > usual).map(({ from, to }) => `${from} to ${to}`);
  const left = gaps.length === 0 ? '' : ` Not compared, because the periods between them have no figure: ${listed(gaps, maxGaps)}.`;
  return parts.length === 0
    ? []
    : [`Between ${usual === 1 ? 'neighbouring periods' : `periods that are ${usual} ${unit}s apart`} ${parts.join('; ')}.${left}`];
}

/** A number that grows by one with each period of one kind: "2024-03", "2024 Q1", "2024", "2024-03-01", "2024-03-01 10:00". */
function periodNumber(period: string): number {
  const year = Number(period.slice(0, 4));
  if (period.length === 4) return year;
  if (period[5] === 'Q') return year * 4 + Number(period[6]);
  if (period.length === 7) return year * 12 + Number(period.slice(5, 7));
  return period.length === 10 ? Date.parse(period) / dayMs : Date.parse(`${period.replace(' ', 'T')}Z`) / hourMs;
}

function mostFrequent(lengths: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const length of lengths) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? 1;
}

/** Whether the first and the last month are covered in part only: the rest is longer than the pauses between the dates. */
function partialEnds({ trend: found, columns }: TableProfile): { first: boolean; last: boolean } {
  const column = columns.find(({ name }) => name === found?.date_column);
  if (found?.period !== 'month' || column?.dates === undefined || column.dates.first.length < 10) return { first: false, last: false };
  const [from, to] = [column.dates.first, column.dates.last].map((date) => new Date(`${date.slice(0, 10)}T00:00:00Z`)) as [Date, Date];
  const pause = (to.getTime() - from.getTime()) / dayMs / Math.max(1, column.distinct - 1);
  const usual = Math.max(5, pause * 2);
  const days = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  return { first: from.getUTCDate() - 1 > usual, last: days - to.getUTCDate() > usual };
}

/** A month whose data begin on the 20th is not comparable. */
function partialPeriods(profile: TableProfile): string[] {
  const dates = profile.columns.find(({ name }) => name === profile.trend?.date_column)?.dates;
  const partial = partialEnds(profile);
  if (dates === undefined) return [];
  const parts = [
    ...(partial.first ? [`${dates.first.slice(0, 7)} begins on ${dates.first.slice(0, 10)}`] : []),
    ...(partial.last ? [`${dates.last.slice(0, 7)} ends on ${dates.last.slice(0, 10)}`] : []),
  ];
  return parts.length === 0 ? [] : [`The ends of the period may be incomplete months: ${parts.join(' and ')}.`];
}
