/** API keys. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

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
