/**
 * Takes the requests for a new password of one e-mail address, whether or not it has a holder: every request is answered after the same
 * steps, and the number of mails is limited. Steps that depend on the holder follow after the durable message.
 */

import { defineActor, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { emailAddress } from '../email-address/messages.ts';
import { Throttle, type ThrottleRow } from '../throttle/entity.ts';
import { countedTimes, waitS } from '../throttle/recent-times.ts';
import { type PasswordResetContract, passwordReset } from './messages.ts';

const mailed = { limit: 3, windowMs: 3_600_000 };

export const passwordResetActor = defineActor<ThrottleRow, PasswordResetContract>({
  ref: passwordReset,
  // Its rows are throttle rows under another name, and expire like them.
  entity: Throttle,
  commands: { request },
  queries: {},
  idleTimeoutMs: 30_000,
});

function request(
  state: ThrottleRow | null,
  { addressId }: { addressId: string },
  ctx: TurnContext<PasswordResetContract>,
): Turn<ThrottleRow | null, null> {
  const times = state?.times ?? [];
  if (waitS(times, mailed, ctx.nowMs) > 0) return { state, reply: null };
  ctx.send(emailAddress, addressId, 'forgotPassword', null);
  return { state: countedTimes(ctx.id, times, mailed, ctx.nowMs), reply: null };
}
