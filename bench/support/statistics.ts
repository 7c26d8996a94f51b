/** The few figures that benches are summed up in. */

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The mean of the middle half: heeds more of the values than the median, and the outliers as little. */
export function middleMean(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = sorted.length >> 2;
  const kept = sorted.slice(cut, sorted.length - cut);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

/** @param share e.g. 0.99 for the value that 99 of 100 do not exceed. NaN where there are none. */
export function percentile(values: Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

/** Above this spread of its slices a figure says as much about the machine's other work as about what was measured. */
const quietSpread = 0.35;

export function isNoisy(slices: readonly number[]): boolean {
  return (Math.max(...slices) - Math.min(...slices)) / median(slices) > quietSpread;
}

/** Slope of the line through the points (least squares), in y per x. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
