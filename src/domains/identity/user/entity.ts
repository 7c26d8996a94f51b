/** Users: their password, second factor and addresses that wait for verification. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** `pending`: the secret was shown, and no code of it was entered yet. */
export type SecondFactor = {
  status: 'pending' | 'enabled';
  /** The TOTP secret, encrypted. */
  sealed: string;
  /** The time step of the last used code: it and all earlier ones are consumed. */
  lastStep: number;
  /** SHA-256 of the unused codes. */
  recoveryHashes: string[];
};

export type PasswordReset = { id: string; expiresAt: number };

/** A verification that was mailed and not used. `email`: as typed by the user. */
export type Verification = { id: string; email: string; expiresAt: number };

/** The address that replaces the user's if it is verified in time; claimed for the user until then. */
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
    /** Incremented when all sessions are ended: those opened under an earlier generation are invalid. */
    generation: p.integer(),
    /** Incremented with every change of the address, so that of two concurrent changes one is refused. */
    emailVersion: p.integer(),
    secondFactor: json<SecondFactor>().nullable().hidden(),
    /** Password resets that were mailed and not used. */
    resets: json<PasswordReset[]>().hidden(),
    /** The address was confirmed from its mailbox. */
    emailVerified: p.boolean(),
    pendingEmail: json<PendingEmail>().nullable(),
    verifications: json<Verification[]>().hidden(),
    createdAt: epochMs(),
  },
});
export type UserRow = InferEntity<typeof User>;
