import type { EventFamilies } from '../../../src/edge/stream/event-catalogue.ts';

export const notesEvents: EventFamilies = { note: { names: ['written'], scope: 'tasks.read' } };
