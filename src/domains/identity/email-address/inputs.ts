/** Schemas of the inputs of an e-mail address, and of its timers. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { EmailAddressContract } from './messages.ts';

export const emailAddressInputs = durableInputs<EmailAddressContract>()({
  created: Type.Object({ registrationId: Type.String(), part: Type.Union([Type.Literal('account'), Type.Literal('user')]) }),
  moved: Type.Object({ moveId: Type.String(), done: Type.Boolean() }),
  release: Type.Object({ userId: Type.String() }),
  complete: Type.Object({ registrationId: Type.String(), attempt: Type.Integer() }),
  forgotPassword: Type.Null(),
});
