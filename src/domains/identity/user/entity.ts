/** Users: their password, second factor and addresses that wait to be verified. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** `pending`: the secret was shown, and no code of it has come back. */
export type SecondFactor = {
  status: 'pending' | 'enabled';
  /** The TOTP secret, encrypted. */
  sealed: string;
  /** The time step of the code that was used last: it and all before it are used up. */
  lastStep: number;
  /** SHA-256 of those not used. */
  recoveryHashes: string[];
};

export type PasswordReset = { id: string; expiresAt: number };

/** A verification that was mailed and not used. `email`: as the person wrote it. */
export type Verification = { id: string; email: string; expiresAt: number };

/** The address that takes the place of the user's when it is verified in time; claimed for the user until then. */
export type PendingEmail = { email: string; expiresAt: number };

export const User = defineEntity({
  name: 'User',
  tableName: 'app_user',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    email: p.text(),
    name: p.text().strictNullable(),
    passwordHash: p.text().hidden(),
    /** Grows when all sessions are to end: those opened under an earlier one do not count. */
    generation: p.integer(),
    /** Grows with every change of the address, so that of two changes at once one is refused. */
    emailVersion: p.integer(),
    secondFactor: json<SecondFactor>().nullable().hidden(),
    /** Ways to a new password that were mailed and not used. */
    resets: json<PasswordReset[]>().hidden(),
    /** Somebody who reads the mail of the address has confirmed it. */
    emailVerified: p.boolean(),
    pendingEmail: json<PendingEmail>().nullable(),
    verifications: json<Verification[]>().hidden(),
    createdAt: epochMs(),
  },
});
export type UserRow = InferEntity<typeof User>;
