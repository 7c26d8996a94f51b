/**
 * One chart as a standalone SVG: a line over time or bars by group, whichever shows more. Readable in light and dark viewers; all text is
 * escaped.
 */
import type { TableProfile, TrendProfile } from '../../table/table-profile.ts';
import { addsUp, exact, keyFigure, mainMeasure, round } from './figure.ts';

export type Chart = { kind: 'line' | 'bar'; title: string; points: { label: string; value: number }[] };

const width = 760;
const rowHeight = 30;
const labelChars = 22;
const maxBars = 15;

/** The best chart of a profile; null if there is nothing to draw. */
export function chooseChart(profile: TableProfile): Chart | null {
  const measure = mainMeasure(profile);
  const { trend, groups } = profile;
  const label = measure === undefined ? 'Rows' : `${addsUp(measure) ? '' : 'Mean '}${measure.name}`;
  // A period or group whose cells are all missing has no figure; it is not drawn as 0.
  const valued = <T extends Pick<TrendProfile['points'][number], 'figures'>>(all: readonly T[]) =>
    all.filter(({ figures }) => measure === undefined || figures[measure.name] !== undefined);
  const periods = valued(trend?.points ?? []);
  if (trend !== null && periods.length >= 4) {
    const points = periods.map(({ period, rows, figures }) => ({
      label: period,
      value: keyFigure({ rows, figures }, measure),
    }));
    return { kind: 'line', title: `${label} by ${trend.period} (${profile.name})`, points };
  }
  const group = groups.find(({ values }) => valued(values).length >= 2);
  if (group !== undefined) {
    const points = valued(group.values).map(({ value, rows, figures }) => ({
      label: value,
      value: keyFigure({ rows, figures }, measure),
    }));
    return {
      kind: 'bar',
      title: `${label} by ${group.by} (${profile.name})`,
      points: points.toSorted((a, b) => b.value - a.value).slice(0, maxBars),
    };
  }
  const counted = profile.columns.find(({ frequent }) => (frequent?.[0]?.count ?? 0) > 1);
  if (counted?.frequent === undefined) return null;
  return {
    kind: 'bar',
    title: `Most frequent ${counted.name} (${profile.name})`,
    points: counted.frequent.map(({ value, count }) => ({ label: value, value: count })),
  };
}

export function drawChart(chart: Chart): string {
  const { title, points } = chart;
  const height = chart.kind === 'line' ? 380 : 70 + points.length * rowHeight;
  const body = chart.kind === 'line' ? drawLine(points, height) : drawBars(points);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="26" font-size="16" font-weight="bold" fill="#1a1a1a">${escapeXml(cut(title, 80))}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}

function drawBars(points: Chart['points']): string[] {
  const left = 180;
  const right = width - 110;
  const low = Math.min(0, ...points.map(({ value }) => value));
  const high = Math.max(0, ...points.map(({ value }) => value));
  const x = (value: number) => left + (high === low ? 0 : ((value - low) / (high - low)) * (right - left));
  return points.flatMap(({ label, value }, i) => {
    const y = 48 + i * rowHeight;
    const from = Math.min(x(0), x(value));
    return [
      `<text x="${left - 10}" y="${y + 15}" text-anchor="end" fill="#333333">${escapeXml(cut(label, labelChars))}</text>`,
      `<rect x="${place(from)}" y="${y}" width="${place(Math.max(Math.abs(x(value) - x(0)), 1))}" height="${rowHeight - 9}" rx="2" fill="${value < 0 ? '#b5483a' : '#2f6db5'}"/>`,
      `<text x="${place(Math.max(x(value), x(0)) + 6)}" y="${y + 15}" fill="#333333">${escapeXml(round(value))}</text>`,
    ];
  });
}

function drawLine(points: Chart['points'], height: number): string[] {
  const [left, right, top, bottom] = [96, width - 24, 50, height - 50];
  const values = points.map(({ value }) => value);
  const ticks = niceTicks(Math.min(0, ...values), Math.max(0, ...values));
  const [low, high] = [ticks[0]!, ticks.at(-1)!];
  const x = (i: number) => left + (i / Math.max(points.length - 1, 1)) * (right - left);
  const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const grid = ticks.flatMap((tick) => [
    `<line x1="${left}" y1="${place(y(tick))}" x2="${right}" y2="${place(y(tick))}" stroke="#dddddd"/>`,
    `<text x="${left - 8}" y="${place(y(tick) + 4)}" text-anchor="end" fill="#555555">${escapeXml(exact(tick))}</text>`,
  ]);
  const every = Math.ceil(points.length / 9);
  const labels = points.flatMap(({ label }, i) =>
    i % every === 0 ? [`<text x="${place(x(i))}" y="${bottom + 20}" text-anchor="middle" fill="#555555">${escapeXml(label)}</text>`] : [],
  );
  const path = points.map(({ value }, i) => `${i === 0 ? 'M' : 'L'}${place(x(i))} ${place(y(value))}`).join(' ');
  const dots = points.map(
    ({ label, value }, i) =>
      `<circle cx="${place(x(i))}" cy="${place(y(value))}" r="3.5" fill="#2f6db5"><title>${escapeXml(`${label}: ${round(value)}`)}</title></circle>`,
  );
  return [...grid, ...labels, `<path d="${path}" fill="none" stroke="#2f6db5" stroke-width="2"/>`, ...dots];
}

/** Four to seven round figures that include both ends. */
function niceTicks(low: number, high: number): number[] {
  if (high === low) return [low, low + 1];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function place(pixels: number): string {
  return String(Math.round(pixels * 10) / 10);
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${[...text].slice(0, maxChars - 1).join('')}…` : text;
}

function escapeXml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  // XML cannot contain control characters and unpaired surrogates.
  return text
    .toWellFormed()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (char) => entities[char]!);
}
