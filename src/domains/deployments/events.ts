/** Events of deployments. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const deploymentsEvents: EventFamilies = {
  deployment: { names: ['building', 'deploying', 'live', 'failed', 'log'], scope: 'workspaces.read', ofOneMode: true },
};
