/**
 * Applies time and market data to an account: in one turn, on one content. Applied again to the same content it changes nothing, and a mark
 * without changes writes nothing.
 */
import type { CorporateAction } from '../market/port.ts';
import type { AccountTurn } from './account-turn.ts';
import { applyActions } from './corporate-actions.ts';
import { cancelPending, checkDayLoss } from './day-loss.ts';
import { updateDependentOrders } from './legs.ts';
import { fillPaperOrders } from './paper-fills.ts';
import { beginDays } from './prices.ts';

/** Orders that one turn calls: the others are left for the next, so that the turns of other accounts wait for few. */
export const maxCalls = 50;

/** Returns whether something is left for another turn. */
export function markAccount(turn: AccountTurn, actions: readonly CorporateAction[]): boolean {
  beginDays(turn);
  applyActions(turn, actions);
  const hasCallsLeft = callsOfTurn(turn);
  fillPaperOrders(turn, hasCallsLeft);
  return applyConsequences(turn, hasCallsLeft);
}

/** The consequences of fills, ends and prices: legs, replacements, the day's loss, open cancellations. */
export function applyConsequences(turn: AccountTurn, hasCallsLeft = callsOfTurn(turn)): boolean {
  checkDayLoss(turn);
  cancelPending(turn, hasCallsLeft);
  updateDependentOrders(turn, hasCallsLeft);
  return turn.calls >= maxCalls;
}

function callsOfTurn(turn: AccountTurn): () => boolean {
  return () => turn.calls < maxCalls;
}
