/** Who calls: accounts, their users, sessions and keys. Passwords, refresh tokens and keys are stored as hashes only. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Plan } from '../../plans.ts';
import { epochMs, json } from '../column-types.ts';

export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: { id: p.text().primary(), plan: p.text().$type<Plan>(), createdAt: epochMs() },
});
export type AccountRow = InferEntity<typeof Account>;

/** What an operator has set for one account in place of its plan or of single limits of it. Null: nothing; -1: unlimited. */
export const AccountOverride = defineEntity({
  name: 'AccountOverride',
  tableName: 'account_override',
  properties: {
    accountId: p.text().primary(),
    plan: p.text().$type<Plan>().strictNullable(),
    requestsPerMinute: p.bigint('number').strictNullable(),
    concurrentRequests: p.bigint('number').strictNullable(),
    websockets: p.bigint('number').strictNullable(),
    tasksLimit: p.bigint('number').strictNullable(),
    credits: p.bigint('number').strictNullable(),
    agentMinutes: p.bigint('number').strictNullable(),
    concurrentTasks: p.bigint('number').strictNullable(),
    concurrentAgents: p.bigint('number').strictNullable(),
    changedAt: epochMs(),
  },
});
export type AccountOverrideRow = InferEntity<typeof AccountOverride>;

export const User = defineEntity({
  name: 'User',
  tableName: 'app_user',
  properties: {
    id: p.text().primary(),
    accountId: p.text(),
    email: p.text(),
    name: p.text().strictNullable(),
    passwordHash: p.text().hidden(),
    createdAt: epochMs(),
  },
});
export type UserRow = InferEntity<typeof User>;

/** What a registration still needs to make both halves; gone as soon as they are there. */
export type UnfinishedRegistration = { email: string; name: string | null; passwordHash: string; missing: ('account' | 'user')[] };

/** One row an e-mail address in lower case: who holds it. Its actor makes addresses unique. */
export const EmailAddress = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    accountId: p.text(),
    /** Of the registration that claimed the address: asked again with it, the answer is the same. */
    registrationId: p.text(),
    unfinished: json<UnfinishedRegistration>().nullable().hidden(),
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
    refreshHash: p.text().hidden(),
    refreshExpiresAt: epochMs(),
    createdAt: epochMs(),
  },
});
export type SessionRow = InferEntity<typeof Session>;

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
