/**
 * Who calls: users, sessions and keys. Passwords, refresh tokens, recovery codes and keys are stored as hashes only, TOTP secrets
 * encrypted.
 */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../column-types.ts';

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

/** What a registration still needs to make both halves; gone as soon as they are there. */
export type UnfinishedRegistration = { email: string; name: string | null; passwordHash: string; missing: ('account' | 'user')[] };

/** A user is about to move to the address; gone as soon as the user has, or was refused. */
export type UnfinishedMove = { email: string; emailVersion: number };

/** One row an e-mail address in lower case: who holds it. Its actor makes addresses unique. */
export const EmailAddress = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    id: p.text().primary(),
    /** Null: given up, and free for anybody. */
    userId: p.text().strictNullable(),
    accountId: p.text().strictNullable(),
    /** Of the registration or the move that claimed the address: asked again with it, the answer is the same. */
    registrationId: p.text(),
    unfinished: json<UnfinishedRegistration | UnfinishedMove>().nullable().hidden(),
    createdAt: epochMs(),
  },
});
export type EmailAddressRow = InferEntity<typeof EmailAddress>;

/** A login and all refresh tokens that followed from it. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    accountId: p.text(),
    status: p.text().$type<'active' | 'revoked'>(),
    /** The user's when it was opened. */
    generation: p.integer(),
    refreshHash: p.text().hidden(),
    refreshExpiresAt: epochMs(),
    createdAt: epochMs(),
  },
});
export type SessionRow = InferEntity<typeof Session>;

/** When one thing happened lately that may not happen too often, e.g. a wrong password for one address. */
export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'throttle',
  properties: {
    id: p.text().primary(),
    /** Milliseconds since 1970, oldest first. */
    times: json<number[]>(),
    /** From then on the row says nothing any more. */
    forgetAt: epochMs(),
  },
});
export type ThrottleRow = InferEntity<typeof Throttle>;

/** What the people of an account have chosen. The id is the account's. */
export const AccountSettings = defineEntity({
  name: 'AccountSettings',
  tableName: 'account_settings',
  properties: {
    id: p.text().primary(),
    autoApproveThresholdMinor: p.bigint('number'),
    /** The same for orders of test mode. */
    testAutoApproveThresholdMinor: p.bigint('number'),
    liveTradingEnabled: p.boolean(),
    maxPositionSizeMinor: p.bigint('number'),
    dailyLossLimitMinor: p.bigint('number'),
    redirectUris: json<string[]>(),
    timezone: p.text(),
  },
});
export type AccountSettingsRow = InferEntity<typeof AccountSettings>;

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    userId: p.text(),
    name: p.text(),
    /** SHA-256 of the secret, hexadecimal. */
    secretHash: p.text().hidden(),
    lastFour: p.text(),
    mode: p.text().$type<'live' | 'test'>(),
    scopes: json<string[]>(),
    status: p.text().$type<'active' | 'revoked'>(),
    createdAt: epochMs(),
    lastUsedAt: epochMs().strictNullable(),
  },
});
export type ApiKeyRow = InferEntity<typeof ApiKey>;
