/** The events of all domains, found by their folders: without the rest of the domains, which takes long to load. */
import { globSync } from 'node:fs';
import { EventCatalogue, type EventFamilies } from '../../src/edge/stream/event-catalogue.ts';

const root = new URL('../../', import.meta.url);
const files = globSync(['src/domains/*/events.ts', 'src/domains/planned-events.ts'], { cwd: root }).sort();
const loaded = await Promise.all(
  files.map(async (file): Promise<EventFamilies[]> => Object.values(await import(new URL(file, root).href))),
);

export const eventCatalogue = new EventCatalogue(loaded.flat());
