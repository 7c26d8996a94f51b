/** The API reference's texts about the service itself, and examples of fields that several domains have. */
import { exampleId } from './http/examples.ts';
import type { ReferencePart } from './http/reference-part.ts';

export const platformApi: ReferencePart = {
  chapters: [
    { name: 'Health', paths: ['/health'], description: 'For load balancers and operators. Requests do not count against rate limits.' },
    { name: 'Reference', paths: ['/', '/openapi.json', '/docs'], description: 'The OpenAPI description and this reference page.' },
  ],
  examples: {
    'Event.id': exampleId('evt_'),
    account_id: exampleId('acct_'),
    event_id: exampleId('evt_'),
    amount: 120,
    checks: { database: 'ok', files: 'ok' },
    completed_at: null,
    currency: 'USD',
    description: 'Figures of the sales team',
    error: null,
    limit: 20,
    name: 'sales',
    node: 'node-a',
    offset: 0,
    seq: 42,
    status: 'ok',
    uptime_s: 86_400,
    version: '0.1.0',
  },
};
