/**
 * What time and the market do to an account: in one turn, on one content. Applied again to the same content it changes nothing, and what changes nothing writes
 * nothing.
 */
import type { CorporateAction } from '../market/port.ts';
import type { AccountTurn } from './account-turn.ts';
import { applyActions } from './corporate-actions.ts';
import { cancelPending, checkDayLoss } from './day-loss.ts';
import { updateDependentOrders } from './legs.ts';
import { fillPaperOrders } from './paper-fills.ts';
import { beginDays } from './prices.ts';

/** Orders that one turn calls: what is beyond them is for the next. */
export const maxCalls = 100;

/** Returns whether something is left for another turn. */
export function markAccount(turn: AccountTurn, actions: readonly CorporateAction[]): boolean {
  beginDays(turn);
  applyActions(turn, actions);
  const hasCallsLeft = callsOfTurn(turn);
  fillPaperOrders(turn, hasCallsLeft);
  return applyConsequences(turn, hasCallsLeft);
}

/** What follows from fills, ends and prices: legs, replacements, the day's loss, what is still to be cancelled. */
export function applyConsequences(turn: AccountTurn, hasCallsLeft = callsOfTurn(turn)): boolean {
  checkDayLoss(turn);
  cancelPending(turn, hasCallsLeft);
  updateDependentOrders(turn, hasCallsLeft);
  return turn.calls >= maxCalls;
}

function callsOfTurn(turn: AccountTurn): () => boolean {
  return () => turn.calls < maxCalls;
}
