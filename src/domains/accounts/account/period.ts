/** Billing periods: months from the day of sign-up, in UTC. After sign-up on a 31st, periods begin on the last day of shorter months. */

/** `endsAtMs` is the first moment of the next. */
export type Period = { startsAtMs: number; endsAtMs: number };

/** The period of `nowMs`; before the day of sign-up, the first. */
export function periodAt(signedUpAtMs: number, nowMs: number): Period {
  const signedUp = new Date(signedUpAtMs);
  const now = new Date(nowMs);
  const months = (now.getUTCFullYear() - signedUp.getUTCFullYear()) * 12 + now.getUTCMonth() - signedUp.getUTCMonth();
  const number = Math.max(0, periodStart(signedUp, months) > nowMs ? months - 1 : months);
  return { startsAtMs: periodStart(signedUp, number), endsAtMs: periodStart(signedUp, number + 1) };
}

/** The end of the twelfth of the periods that begin with the one of `startsAtMs`. */
export function yearEndMs(signedUpAtMs: number, startsAtMs: number): number {
  let endsAtMs = startsAtMs;
  for (let period = 0; period < 12; period++) endsAtMs = periodAt(signedUpAtMs, endsAtMs).endsAtMs;
  return endsAtMs;
}

function periodStart(signedUp: Date, number: number): number {
  const [year, month] = [signedUp.getUTCFullYear(), signedUp.getUTCMonth() + number];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(signedUp.getUTCDate(), lastDay));
}
