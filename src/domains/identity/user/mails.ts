/** The mails that a user is sent, as effects of the user's actor. */
import type { EffectDefinition } from '../../../actors/define-actor.ts';
import { type ResetMailOptions, resetMail } from './resets.ts';
import { type VerificationMailOptions, verificationMail } from './verifications.ts';

export type UserMails = { mailReset: EffectDefinition; mailVerification: EffectDefinition };

export function userMails(options: ResetMailOptions & VerificationMailOptions): UserMails {
  return { mailReset: resetMail(options), mailVerification: verificationMail(options) };
}
