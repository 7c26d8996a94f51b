/** Schemas of the inputs of a user, and of its timers. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { UserContract } from './messages.ts';

export const userInputs = durableInputs<UserContract>()({
  create: Type.Object({
    registrationId: Type.String(),
    claimedBy: Type.String(),
    accountId: Type.String(),
    email: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    passwordHash: Type.String(),
  }),
  moveTo: Type.Object({ moveId: Type.String(), claimedBy: Type.String(), email: Type.String(), emailVersion: Type.Integer() }),
  offerReset: Type.Object({ email: Type.String() }),
  mailReset: Type.Object({ resetId: Type.String(), attempt: Type.Integer() }),
  mailVerification: Type.Object({ mail: Type.Object({}) }),
  dropPendingEmail: Type.Object({ email: Type.String() }),
});
