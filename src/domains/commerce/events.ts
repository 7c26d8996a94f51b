/** Events of cards, purchase orders and wallets. */
import type { EventFamilies } from '../../edge/stream/event-catalogue.ts';

export const commerceEvents: EventFamilies = {
  card: {
    names: ['created', 'authorized', 'declined', 'reversed', 'frozen', 'cancelled'],
    scope: 'commerce.read',
    ofOneMode: true,
  },
  order: { names: ['created', 'approved', 'rejected', 'complete'], scope: 'commerce.read', ofOneMode: true },
  wallet: { names: ['deposited'], scope: 'commerce.read', ofOneMode: true },
};
