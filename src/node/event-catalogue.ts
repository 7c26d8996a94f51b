/** The events of all domains. */
import { accountsEvents } from '../domains/accounts/events.ts';
import { commerceEvents } from '../domains/commerce/events.ts';
import { plannedEvents } from '../domains/planned-events.ts';
import { tasksEvents } from '../domains/tasks/events.ts';
import { webhooksEvents } from '../domains/webhooks/events.ts';
import { workspacesEvents } from '../domains/workspaces/events.ts';
import { EventCatalogue } from '../edge/stream/event-catalogue.ts';

export const eventCatalogue = new EventCatalogue([
  tasksEvents,
  workspacesEvents,
  plannedEvents,
  commerceEvents,
  accountsEvents,
  webhooksEvents,
]);
