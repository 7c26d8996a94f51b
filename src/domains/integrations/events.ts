/** Events of connected services and MCP servers. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const integrationsEvents: EventFamilies = {
  integration: {
    names: ['connected', 'error', 'recovered', 'disconnected', 'tools_changed'],
    scope: 'integrations.read',
    ofOneMode: true,
  },
};
