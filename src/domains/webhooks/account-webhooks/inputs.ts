/** Schemas of the inputs of the register of an account's webhooks. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AccountWebhooksContract } from './messages.ts';

export const accountWebhooksInputs = durableInputs<AccountWebhooksContract>()({ removed: Type.Object({ webhookId: Type.String() }) });
