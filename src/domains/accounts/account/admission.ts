/**
 * Admission to places (concurrency slots): as many as the plan allows at once, first come, first served. Each id that enters leaves exactly once,
 * admitted or not: an id that is not waiting when it leaves was admitted. So holders are counted, not listed.
 */
import { unlimited } from '../../../plans.ts';
import type { Places } from './entity.ts';

export const emptyAdmission: Places = { held: 0, waiting: [] };

export function enter(places: Places, id: string): Places {
  return { ...places, waiting: [...places.waiting, id] };
}

/** Withdraws a request. A place that is given meanwhile, or requested by a later message, is given and returned, so nothing need be stored here. */
export function withdraw(places: Places, id: string): Places {
  return places.waiting.includes(id) ? leave(places, id) : places;
}

export function leave(places: Places, id: string): Places {
  const at = places.waiting.indexOf(id);
  if (at >= 0) return { ...places, waiting: places.waiting.toSpliced(at, 1) };
  return { ...places, held: Math.max(0, places.held - 1) };
}

/** Gives free places to the longest waiting, at most `most`. */
export function admit(places: Places, limit: number, most: number): { places: Places; admitted: string[] } {
  const free = limit === unlimited ? most : Math.min(most, Math.max(0, limit - places.held));
  const admitted = places.waiting.slice(0, free);
  if (admitted.length === 0) return { places, admitted };
  return { places: { held: places.held + admitted.length, waiting: places.waiting.slice(admitted.length) }, admitted };
}
