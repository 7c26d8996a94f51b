/** Events of webhooks themselves. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const webhooksEvents: EventFamilies = {
  webhook: { names: ['disabled'], scope: null },
};
