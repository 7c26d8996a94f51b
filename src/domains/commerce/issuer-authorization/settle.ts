/** Compares the bookings of an authorization with its issuer's state. Pure rules. */
import type { AuthorizationState } from '../../../authorization-state.ts';
import type { Charge, IssuerAuthorizationRow } from './entity.ts';

/** The issuer decides a request within seconds; after this time it counts as decided, even if its history does not show it. */
const undecidedForMs = 60_000;

/**
 * The amount to be booked for the authorization; null: the issuer has not reported it yet. For an open authorization the held amount, for a
 * closed one the captured amount.
 */
export function dueMinor({ charges, issuerState }: Pick<IssuerAuthorizationRow, 'charges' | 'issuerState'>, nowMs: number): number | null {
  if (issuerState === null || charges.some(({ outcome }) => outcome === 'asked')) return null;
  if (!issuerState.approved) return isUpToDate(charges, issuerState, nowMs) ? Math.max(0, issuerState.capturedMinor ?? 0) : null;
  if (issuerState.status === 'reversed' || issuerState.status === 'expired') return Math.max(0, issuerState.capturedMinor ?? 0);
  // A transaction closes it, which may be reported a little later.
  if (issuerState.status === 'closed') return issuerState.capturedMinor === null ? null : Math.max(0, issuerState.capturedMinor);
  return isUpToDate(charges, issuerState, nowMs) ? Math.max(issuerState.amountMinor, issuerState.capturedMinor ?? 0) : null;
}

/** The amount that card and wallet have paid for it, minus refunds. */
export function bookedMinor(charges: readonly Charge[]): number {
  return charges.reduce(
    (sum, { outcome, amountMinor, returnedMinor }) => sum + (outcome === 'approved' ? amountMinor - returnedMinor : 0),
    0,
  );
}

/** Refunds `amountMinor` of the bookings, newest first: returns how much of which charge, and the charges after it. */
export function takeBack(
  charges: readonly Charge[],
  amountMinor: number,
): { charges: Charge[]; returned: { of: Charge; amountMinor: number }[] } {
  const after = [...charges];
  const returned: { of: Charge; amountMinor: number }[] = [];
  let rest = amountMinor;
  for (let at = after.length - 1; at >= 0 && rest > 0; at--) {
    const of = after[at]!;
    const part = Math.min(rest, bookedMinor([of]));
    if (part === 0) continue;
    rest -= part;
    returned.push({ of, amountMinor: part });
    after[at] = { ...of, returnedMinor: of.returnedMinor + part };
  }
  return { charges: after, returned };
}

/** Only refunds can follow, which are notified. */
export function isOver({ status, approved, capturedMinor }: AuthorizationState): boolean {
  if (status === 'reversed' || status === 'expired') return true;
  return status === 'closed' && (!approved || capturedMinor !== null);
}

/** The issuer has decided each request that was answered here. */
function isUpToDate(charges: readonly Charge[], { decidedRequests }: AuthorizationState, nowMs: number): boolean {
  return charges.every(({ number, atMs }) => number === null || number < decidedRequests || nowMs - atMs > undecidedForMs);
}
