/** Events of an account's plan and what was charged for it. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const accountsEvents: EventFamilies = {
  invoice: { names: ['created'], scope: 'billing.read' },
  plan: { names: ['changed'], scope: 'billing.read' },
};
