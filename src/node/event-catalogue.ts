/** The events of all domains. */
import { plannedEvents } from '../domains/planned-events.ts';
import { EventCatalogue } from '../edge/stream/event-catalogue.ts';
import { domains } from './domains.ts';

export const eventCatalogue = new EventCatalogue([...domains.map(({ events = {} }) => events), plannedEvents]);
