import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../../src/storage/column-types.ts';

export const Note = defineEntity({
  name: 'Note',
  tableName: 'note',
  properties: { id: p.text().primary(), accountId: p.text(), text: p.text(), createdAt: epochMs() },
});
export type NoteRow = InferEntity<typeof Note>;
