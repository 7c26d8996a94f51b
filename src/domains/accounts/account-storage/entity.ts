/** What an account stores. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** What an account stores: files of its workspaces, and space that is reserved for contents being put into one. */
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
