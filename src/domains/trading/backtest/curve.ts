/** The equity curve as points, CSV and SVG. The same curve gives the same bytes. */
import { barDate, barDates } from '../bars.ts';
import { places } from './metrics.ts';

export type CurvePoint = { date: string; equity: number };
export type ThinnedCurve = {
  points: CurvePoint[];
  /** There is a point every so many bars, and one at the last bar. */
  step: number;
};

export const maxCurvePoints = 5_000;

/** Every k-th point, the first and the last kept, with the smallest k that leaves at most `maxPoints` points. */
export function thinCurve(time: Float64Array, equity: Float64Array, daily: boolean, maxPoints = maxCurvePoints): ThinnedCurve {
  const bars = time.length;
  let step = Math.max(1, Math.ceil(bars / maxPoints));
  // The last bar may add one point.
  while (countPoints(bars, step) > maxPoints) step++;
  const points: CurvePoint[] = [];
  const add = (t: number) => points.push({ date: barDate(time[t]!, daily), equity: cents(equity[t]!) });
  for (let t = 0; t < bars; t += step) add(t);
  if (bars > 0 && (bars - 1) % step !== 0) add(bars - 1);
  return { points, step };
}

/** The whole curve, in chunks of some thousand lines. */
export function* curveCsv(time: Float64Array, equity: Float64Array, daily: boolean): Generator<Uint8Array> {
  yield Buffer.from('date,equity\n');
  const linesAtOnce = 8_192;
  for (let from = 0; from < time.length; from += linesAtOnce) {
    const dates = barDates(time, daily, from, Math.min(from + linesAtOnce, time.length));
    yield Buffer.from(dates.map((date, i) => `${date},${money(equity[from + i]!)}\n`).join(''));
  }
}

const [width, height, left, right, top, bottom] = [960, 400, 96, 16, 40, 32];

/** A chart of one line with its first, lowest, highest and last figures. */
export function curveSvg(time: Float64Array, equity: Float64Array, daily: boolean, title: string): string {
  const { points } = thinCurve(time, equity, daily, 1_000);
  const values = points.map(({ equity }) => equity);
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const span = highest - lowest || 1;
  const x = (i: number) => (left + ((width - left - right) * i) / Math.max(1, points.length - 1)).toFixed(1);
  const y = (value: number) => (height - bottom - ((height - top - bottom) * (value - lowest)) / span).toFixed(1);
  const text = (at: string, down: string | number, anchor: string, content: string) =>
    `<text x="${at}" y="${down}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(String(left), 24, 'start', title),
    `<path d="M${left} ${top}V${height - bottom}H${width - right}" fill="none" stroke="#999"/>`,
    text(String(left - 8), y(highest), 'end', money(highest)),
    ...(highest > lowest ? [text(String(left - 8), y(lowest), 'end', money(lowest))] : []),
    text(String(left), height - 10, 'start', points[0]?.date ?? ''),
    text(String(width - right), height - 10, 'end', points.at(-1)?.date ?? ''),
    `<polyline fill="none" stroke="#06c" stroke-width="1.5" points="${values.map((value, i) => `${x(i)},${y(value)}`).join(' ')}"/>`,
    '</svg>\n',
  ].join('\n');
}

export const cents = (value: number): number => places(value, 2);

/** Always two decimal places, never an exponent. */
export function money(value: number): string {
  const rounded = cents(value);
  return Math.abs(rounded) < 1e21 ? rounded.toFixed(2) : `${BigInt(rounded)}.00`;
}

function countPoints(bars: number, step: number): number {
  return bars === 0 ? 0 : Math.floor((bars - 1) / step) + 1 + ((bars - 1) % step === 0 ? 0 : 1);
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
