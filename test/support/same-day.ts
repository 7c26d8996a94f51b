/** For tests of sums of a day: that no midnight falls between their requests. */
import { setTimeout as pause } from 'node:timers/promises';

const dayMs = 86_400_000;
/** More than such a test takes. */
const neededMs = 60_000;

/** Resolves when the day of UTC lasts for another minute at least: at once, except just before midnight. */
export async function sameDay(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < neededMs) await pause(leftMs + 1_000);
}
