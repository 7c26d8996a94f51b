/** One row an e-mail address: its actor makes addresses unique. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** What a registration still needs to create user and account; null once both exist. */
export type UnfinishedRegistration = { email: string; name: string | null; passwordHash: string; missing: ('account' | 'user')[] };

/** A user who is about to move to the address; null once the move is done or refused. */
export type UnfinishedMove = { email: string; emailVersion: number };

/** One row per lower-case e-mail address, with its holder. Its actor makes addresses unique. */
export const EmailAddress = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    id: p.text().primary(),
    /** Null: released, available for any user. */
    userId: p.text().strictNullable(),
    accountId: p.text().strictNullable(),
    /** Id of the registration or move that claimed the address: a repeat with it has the same answer. */
    registrationId: p.text(),
    unfinished: json<UnfinishedRegistration | UnfinishedMove>().nullable().hidden(),
    createdAt: epochMs(),
  },
});
export type EmailAddressRow = InferEntity<typeof EmailAddress>;
