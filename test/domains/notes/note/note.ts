import { defineActor } from '../../../../src/actors/define-actor.ts';
import { Note, type NoteRow } from './entity.ts';
import { type NoteContract, note } from './messages.ts';

export const noteActor = defineActor<NoteRow, NoteContract>({
  ref: note,
  entity: Note,
  commands: {
    write(state, { accountId, text }, ctx) {
      if (state !== null) return { state, reply: state };
      const written: NoteRow = { id: ctx.id, accountId, text, createdAt: ctx.nowMs };
      ctx.emit({ accountId, type: 'note.written', data: { note_id: ctx.id, text } });
      return { state: written, reply: written };
    },
  },
  queries: { get: (state) => state },
});
