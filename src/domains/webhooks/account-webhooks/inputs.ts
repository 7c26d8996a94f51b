/** The forms of what the register of an account's webhooks is sent. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AccountWebhooksContract } from './messages.ts';

export const accountWebhooksInputs = durableInputs<AccountWebhooksContract>()({ removed: Type.Object({ webhookId: Type.String() }) });
