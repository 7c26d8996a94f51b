/**
 * Events of domains that are not built yet: streams and webhooks already accept subscriptions to them, so that callers need not change
 * later. A family moves to its domain's `events.ts` when the domain is built.
 */
import type { EventFamilies } from '../edge/stream/event-catalogue.ts';

export const plannedEvents: EventFamilies = {
  deployment: { names: ['building', 'deploying', 'live', 'failed'], scope: 'workspaces.read' },
};
