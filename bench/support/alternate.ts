/** Measures two sides in turn, slice by slice, so that other load of the machine affects both alike; medians of the slices count. */
import { isNoisy, median } from './statistics.ts';

const sliceCount = 5;

export type Slice = { perSecond: number };
export type Compared<S extends Slice> = { ours: number; limit: number; noisy: boolean; oursSlices: S[] };

/**
 * @param seconds measured on each side; a slice more warms each up
 */
export async function alternate<S extends Slice>(
  seconds: number,
  ours: (ms: number) => Promise<S>,
  limit: (ms: number) => Promise<Slice>,
): Promise<Compared<S>> {
  const sliceMs = (seconds * 1_000) / sliceCount;
  await limit(sliceMs);
  await ours(sliceMs);
  const limitSlices: Slice[] = [];
  const oursSlices: S[] = [];
  for (let i = 0; i < sliceCount; i++) {
    limitSlices.push(await limit(sliceMs));
    oursSlices.push(await ours(sliceMs));
  }
  const rates = [oursSlices, limitSlices].map((slices) => slices.map(({ perSecond }) => perSecond)) as [number[], number[]];
  return { ours: median(rates[0]), limit: median(rates[1]), noisy: rates.some(isNoisy), oursSlices };
}
