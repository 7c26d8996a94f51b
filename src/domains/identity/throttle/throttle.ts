/**
 * Counts failures against one name, to stop repeated attempts: wrong passwords for one address, wrong codes of one user. One actor counts
 * for all nodes, and its counts survive restarts. Only failures are recorded, so successful attempts leave no row; retention removes an
 * expired row without effect, because all its times are too old to count.
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { Throttle, type ThrottleRow } from './entity.ts';
import { throttleInputs } from './inputs.ts';
import { type ThrottleContract, type ThrottleRule, throttle } from './messages.ts';
import { countedTimes, waitS } from './recent-times.ts';

export const throttleActor = defineActor<ThrottleRow, ThrottleContract>({
  ref: throttle,
  entity: Throttle,
  inputs: throttleInputs,
  commands: { judge: countAttempt, forget: clearAttempts },
  queries: { waitS: (state, { rule, nowMs }) => waitS(state?.times ?? [], rule, nowMs) },
  // Every attempt activates such an actor.
  idleTimeoutMs: 30_000,
});

function countAttempt(
  state: ThrottleRow | null,
  { rule, failed }: { rule: ThrottleRule; failed: boolean },
  ctx: TurnContext<ThrottleContract>,
): Turn<ThrottleRow | null, number> {
  const times = state?.times ?? [];
  const wait = waitS(times, rule, ctx.nowMs);
  if (wait > 0) return { state, reply: wait };
  return { state: failed ? countedTimes(ctx.id, times, rule, ctx.nowMs) : state, reply: 0 };
}

function clearAttempts(state: ThrottleRow | null, _input: null, ctx: TurnContext<ThrottleContract>): Turn<ThrottleRow | null, null> {
  if (state === null || state.times.length === 0) return { state, reply: null };
  return { state: { ...state, times: [], forgetAt: ctx.nowMs }, reply: null };
}
