/** What can be asked of the register of an account's webhooks. Its id is the account's. */
import { actorRef } from '../runtime/define-actor.ts';
import type { CreateWebhook } from '../webhook/messages.ts';

export const maxWebhooks = 100;
/** To one scheme, host and port. */
export const maxWebhooksToOrigin = 5;

export type AccountWebhooksContract = {
  commands: {
    /** Registers the webhook and creates it. Told twice it stays as it is. Refused with `conflict` where the account has too many. */
    add(input: { webhookId: string; create: CreateWebhook }): null;
    /** The webhook goes to this address from now on. Refused with `conflict` where too many go to its origin. */
    move(input: { webhookId: string; url: string }): null;
    /** From a webhook that was deleted. */
    removed(input: { webhookId: string }): null;
  };
  queries: Record<never, never>;
};

export const accountWebhooks = actorRef<AccountWebhooksContract>('account_webhooks');
