/** The stored bytes and files of an account. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** The files of an account's workspaces, and the space reserved for contents that are being stored. */
export const AccountStorage = defineEntity({
  name: 'AccountStorage',
  tableName: 'account_storage',
  properties: {
    id: p.text().primary(),
    bytes: p.bigint('number'),
    files: p.bigint('number'),
    reserved: json<{ contentKey: string; fileId: string; bytes: number; files: number; untilMs: number }[]>(),
    /** When it was last reconciled with the files; null: never. */
    countedAt: epochMs().strictNullable(),
  },
});
export type AccountStorageRow = InferEntity<typeof AccountStorage>;
