/** The API reference's chapters on billing, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const billingApi: ReferencePart = {
  chapters: [{ name: 'Billing', paths: ['/billing', '/checkout', '/stripe'], description: 'The plan, its usage, invoices and upgrades.' }],
  examples: {
    '/billing/invoices/{id}': exampleId('inv_'),
    '/commerce/wallet/deposits/{id}': exampleId('txn_'),
    'Deposit.id': exampleId('txn_'),
    'Deposit.status': 'pending',
    'Deposit.checkout_url': 'https://checkout.stripe.com/c/pay/cs_…',
    'Invoice.id': exampleId('inv_'),
    'Invoice.amount': 49,
    'Invoice.lines': [{ description: 'Pro, monthly, 2026-11-21 to 2026-12-21', amount: 49 }],
    agents_minutes: 12.5,
    breakdown: [{ agent_id: exampleId('agt_'), agent_name: 'Analyse sales.csv', tasks: 1, minutes: 4.2 }],
    credits_remaining: 2_431.6,
  },
};
