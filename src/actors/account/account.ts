/** An account: what a customer has, uses and pays for. Its plan is here; what it owns names it. */
import { Account, type AccountRow } from '../../storage/entities/identity.ts';
import { emailAddress } from '../email-address/messages.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type AccountContract, account, type CreateAccount } from './messages.ts';

export const accountActor = defineActor<AccountRow, AccountContract>({
  ref: account,
  entity: Account,
  commands: { create },
  queries: { get: (state) => state },
});

function create(state: AccountRow | null, { registrationId, claimedBy }: CreateAccount, ctx: TurnContext): Turn<AccountRow, null> {
  ctx.send(emailAddress, claimedBy, 'created', { registrationId, part: 'account' });
  return { state: state ?? ({ id: ctx.id, plan: 'free', createdAt: ctx.nowMs } as AccountRow), reply: null };
}
