/** Commands and queries of a user. Secrets are passed as hashes or encrypted. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { SecondFactor } from './entity.ts';
import type { KeyRevocation } from './key-revocation.ts';
import type { MailedReset } from './resets.ts';
import type { VerificationMail } from './verifications.ts';

export type CreateUser = {
  registrationId: string;
  claimedBy: string;
  accountId: string;
  /** As typed by the user. */
  email: string;
  name: string | null;
  passwordHash: string;
};

export type UserProfile = {
  id: string;
  accountId: string;
  email: string;
  emailVersion: number;
  emailVerified: boolean;
  /** The address that replaces `email` when it is verified; null: none. */
  pendingEmail: string | null;
  name: string | null;
  twoFactorEnabled: boolean;
  createdAt: number;
};

/** The data for checking a login. Sessions are opened with `generation`. */
export type Credentials = {
  accountId: string;
  /** The address for sign-in. */
  email: string;
  passwordHash: string;
  generation: number;
  twoFactorEnabled: boolean;
};

/** A code that was right: the time step of a TOTP code, or the hash of a recovery code. */
export type Proof = { step: number } | { recoveryHash: string };

export type UserContract = {
  commands: {
    /** Sent by the e-mail address that registers it; answered with `created`. Repeating it changes nothing. */
    create(input: CreateUser): null;
    /** Changes the given fields. The address may only change in letter case, which ends a pending change: false if it is another one by now. */
    update(input: { name?: string | null; email?: string }): boolean;
    /**
     * Sent by the new e-mail address, which is already claimed; answered with `moved`. The user moves when the address is verified; until
     * then it waits as `pendingEmail`, replacing an earlier pending one.
     */
    moveTo(input: { moveId: string; claimedBy: string; email: string; emailVersion: number }): null;
    /** Sent by the user's e-mail address: a password reset is mailed to it. */
    offerReset(input: { email: string }): null;
    resetMailed(result: EffectResult): null;
    /** By timer: the mail could not be sent before. */
    mailReset(input: { resetId: string; attempt: number }): null;
    /** Mails another verification of the pending address, otherwise of the user's own. False: nothing to verify. */
    mailVerificationAgain(input: null): boolean;
    verificationMailed(result: EffectResult): null;
    /** By timer: the mail could not be sent before. */
    mailVerification(input: { mail: object }): null;
    /**
     * Verifies the address that the verification was mailed to; a pending one becomes the user's own. False: used, expired, replaced or
     * never mailed.
     */
    verifyEmail(input: { verificationId: string }): boolean;
    /** By timer: the pending address was not verified in time. */
    dropPendingEmail(input: { email: string }): null;
    /**
     * Sets the password, once for each reset, and ends all sessions; with `revokeKeys` also all API keys of the account, and answers when
     * that is done. False: used, expired or never offered.
     */
    resetPassword(input: { resetId: string; passwordHash: string; revokeKeys: boolean }): { keysRevoked: number } | false;
    keysRevoked(result: EffectResult): null;
    /** Begins a second factor; an earlier begun one is void. Refused with `conflict` if one is enabled. */
    enroll(input: { sealed: string }): null;
    /** Enables the second factor that was begun with this secret. False: another one was begun, or it is already enabled. */
    confirm(input: { sealed: string; step: number; recoveryHashes: string[] }): boolean;
    /**
     * Consumes a code. False: it was used before, there is no second factor, or the sessions of `generation` have ended. `resealed`
     * replaces the encrypted secret.
     */
    useCode(input: { proof: Proof; generation: number | null; resealed: string | null }): boolean;
    /** Disables the second factor and consumes a code. False as for `useCode`. */
    disable(input: { proof: Proof }): boolean;
  };
  queries: {
    /** null: no such user. */
    profile(input: null): UserProfile | null;
    /** null: no such user. */
    credentials(input: null): Credentials | null;
    /** null: no such user. */
    generation(input: null): number | null;
    /** Whether `useCode` or `disable` would accept it now. */
    canUseCode(input: { proof: Proof; generation: number | null }): boolean;
    /** The data for checking codes; null: no second factor. */
    secondFactor(input: null): Pick<SecondFactor, 'status' | 'sealed'> | null;
    /** Whether the reset can still be used. */
    canReset(input: { resetId: string; nowMs: number }): boolean;
  };
  effects: {
    mailReset(input: MailedReset): unknown;
    mailVerification(input: VerificationMail): unknown;
    revokeKeys(input: KeyRevocation): unknown;
  };
};

export const user = actorRef<UserContract>('user');
