/** The smallest domain that has every part of a domain. Only `notes.test.ts` adds it to the list of a node. */
import { defineDomain } from '../../../src/domains/domain.ts';
import { deleteAgedRows } from '../../../src/storage/aged-rows.ts';
import { notesApi } from './api.ts';
import { notesEvents } from './events.ts';
import { notesIds } from './ids.ts';
import { noteActor } from './note/note.ts';
import { noteRoutes } from './routes.ts';
import { notesSchema } from './schema.ts';
import { writeNote } from './tools/write-note.ts';

const dayMs = 24 * 3_600_000;

export const notes = defineDomain({
  name: 'notes',
  ids: notesIds,
  schema: notesSchema,
  events: notesEvents,
  api: notesApi,
  agentTools: ({ actors }) => [writeNote(actors)],
  start: ({ actors, clock }) => ({
    actors: [noteActor],
    routes: noteRoutes(actors),
    jobs: [
      deleteAgedRows({
        name: 'notes',
        table: 'note',
        column: 'created_at',
        index: 'note_to_forget',
        keepMs: 30 * dayMs,
        areChanged: true,
        clock,
      }),
    ],
    metrics: (metrics) => metrics.gauge('troupe_notes', 'Always 1 here', () => 1),
  }),
});
