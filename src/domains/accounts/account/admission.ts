/**
 * Places at work: as many as the plan allows at once, given first come, first served. Each who enters leaves exactly once, whether a place
 * was given meanwhile or not: who does not wait any more when leaving has been given one. So holders are counted, not kept.
 */
import { unlimited } from '../../../plans.ts';
import type { Places } from './entity.ts';

export const emptyAdmission: Places = { held: 0, waiting: [] };

export function enter(places: Places, id: string): Places {
  return { ...places, waiting: [...places.waiting, id] };
}

/**
 * Who has asked for a place wants none any more. One that is given meanwhile, or is asked for by a message that comes later, is given and comes
 * back: so nothing here need be remembered.
 */
export function withdraw(places: Places, id: string): Places {
  return places.waiting.includes(id) ? leave(places, id) : places;
}

export function leave(places: Places, id: string): Places {
  const at = places.waiting.indexOf(id);
  if (at >= 0) return { ...places, waiting: places.waiting.toSpliced(at, 1) };
  return { ...places, held: Math.max(0, places.held - 1) };
}

/** Gives what places there are to those who have waited longest, `most` at once. */
export function admit(places: Places, limit: number, most: number): { places: Places; admitted: string[] } {
  const room = limit === unlimited ? most : Math.min(most, Math.max(0, limit - places.held));
  const admitted = places.waiting.slice(0, room);
  if (admitted.length === 0) return { places, admitted };
  return { places: { held: places.held + admitted.length, waiting: places.waiting.slice(admitted.length) }, admitted };
}
