import type { Schema } from '../../../src/storage/schema.ts';
import { Notes } from './migrations/9001-notes.ts';
import { Note } from './note/entity.ts';

export const notesSchema: Schema = { entities: [Note], migrations: [Notes] };
