/** The events of all domains, found by their folders: without the rest of the domains, which takes long to load. */
import { EventCatalogue, type EventFamilies } from '../../src/edge/stream/event-catalogue.ts';
import { sourceExports } from './source-exports.ts';

const declared = await sourceExports<EventFamilies>(['src/domains/*/events.ts', 'src/domains/planned-events.ts']);

export const eventCatalogue = new EventCatalogue(declared.flat());
