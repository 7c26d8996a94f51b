/** Sessions of users. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

/** A login and all its refresh tokens. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    accountId: p.text(),
    status: p.text().$type<'active' | 'revoked'>(),
    /** The user's generation when it was opened. */
    generation: p.integer(),
    refreshHash: p.text().hidden(),
    refreshExpiresAt: epochMs(),
    createdAt: epochMs(),
  },
});
export type SessionRow = InferEntity<typeof Session>;
