import Type from 'typebox';
import type { ActorSystem } from '../../../src/actors/actor-system.ts';
import { isoTimestamp } from '../../../src/clock.ts';
import { type AnyRoute, route } from '../../../src/edge/http/route.ts';
import { ownedBy } from '../../../src/edge/routes/ownership.ts';
import { newId } from '../../../src/ids.ts';
import { notesIds } from './ids.ts';
import type { NoteRow } from './note/entity.ts';
import { note } from './note/messages.ts';

const Text = Type.String({ minLength: 1, maxLength: 1_000 });
const NoteView = Type.Object({ id: Type.String(), text: Text, created_at: Type.String({ format: 'date-time' }) }, { title: 'Note' });
const view = ({ id, text, createdAt }: NoteRow) => ({ id, text, created_at: isoTimestamp(createdAt) });

export function noteRoutes(actors: ActorSystem): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/notes',
      summary: 'Write a note',
      scope: 'tasks.write',
      body: Type.Object({ text: Text }),
      responses: { 201: NoteView },
      async handler({ principal: { accountId }, body: { text } }) {
        const written = await actors.ask(note, newId(notesIds.note, accountId), 'write', { accountId, text });
        return { status: 201, json: view(written) };
      },
    }),
    route({
      method: 'GET',
      path: '/notes/{id}',
      summary: 'Read a note',
      scope: 'tasks.read',
      responses: { 200: NoteView },
      async handler({ principal, params: { id } }) {
        const found = id.startsWith(notesIds.note) ? await actors.query(note, id, 'get', null) : null;
        return { status: 200, json: view(ownedBy(principal, found, 'Note')) };
      },
    }),
  ];
}
