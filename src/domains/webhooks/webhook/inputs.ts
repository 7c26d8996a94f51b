/** Schemas of the inputs of a webhook, and of its timer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import { disabledInput } from './disabled-notice.ts';
import type { WebhookContract } from './messages.ts';

export const webhookInputs = durableInputs<WebhookContract>()({
  create: Type.Object({
    accountId: Type.String(),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')]),
    userId: Type.String(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    secret: Type.String(),
    cursor: Type.Integer(),
  }),
  tellAgain: disabledInput,
  challenge: Type.Object({ id: Type.String(), run: Type.Integer(), attempts: Type.Integer(), createdAt: Type.Number() }),
});
