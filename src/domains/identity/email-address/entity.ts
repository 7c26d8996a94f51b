/** One row an e-mail address: its actor makes addresses unique. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

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
