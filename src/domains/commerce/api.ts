/** The API reference's chapters on commerce, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const commerceApi: ReferencePart = {
  chapters: [
    {
      name: 'Commerce',
      paths: ['/commerce'],
      description:
        'Virtual cards, purchase orders, the wallet and what may be spent. A test key sees and moves those of test mode alone, live keys and sessions the live ones; what is of the other mode is 404.',
    },
  ],
  examples: {
    '/commerce/cards/{id}': exampleId('crd_'),
    '/commerce/orders/{id}': exampleId('po_'),
    'Card.id': exampleId('crd_'),
    'IssuedCard.id': exampleId('crd_'),
    'CardAuthorization.id': exampleId('authz_'),
    'Order.id': exampleId('po_'),
    'Transaction.id': exampleId('txn_'),
    auto_approve_threshold: 50,
    available: 880,
    balance: 1_000,
    daily_limit: 25_000,
    daily_spent: 120,
    card_id: exampleId('crd_'),
    cvv: '123',
    expiry: '03/30',
    last4: '4242',
    merchant: 'Acme',
    monthly_limit: 100_000,
    monthly_spent: 480,
    number: '4242424242424242',
    'Order.description': 'Three licences',
    'Transaction.description': 'Three licences from Acme',
    per_transaction_limit: 10_000,
    reference: exampleId('po_'),
    spend_limit: 500,
    vendor: 'Acme',
  },
};
