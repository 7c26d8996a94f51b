/** Commands and queries of the register of an account's webhooks. Its id is the account's. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { CreateWebhook } from '../webhook/messages.ts';

export const maxWebhooks = 100;
/** To one scheme, host and port. */
export const maxWebhooksToOrigin = 5;

/** The difference between the register and the webhooks: unregistered ones, ones with another origin, and registered ones that do not exist. */
export type CountedWebhooks = { wrong: { id: string; origin: string }[]; gone: string[] };

export type AccountWebhooksContract = {
  commands: {
    /** Registers the webhook and creates it. Repeating it changes nothing. Refused with `conflict` if the account has too many. */
    add(input: { webhookId: string; create: CreateWebhook }): null;
    /** Changes the webhook's address. Refused with `conflict` if too many have its origin. */
    move(input: { webhookId: string; url: string }): null;
    /** From a deleted webhook. */
    removed(input: { webhookId: string }): null;
    /** A webhook was refused because of the limit: recounts, at most once a minute. */
    recount(input: null): null;
    /** From its effect. */
    counted(input: EffectResult<CountedWebhooks>): null;
  };
  queries: Record<never, never>;
  effects: {
    count(input: Record<string, never>): CountedWebhooks;
  };
};

export const accountWebhooks = actorRef<AccountWebhooksContract>('account_webhooks');
