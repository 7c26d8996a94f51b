import { defineDomain } from '../domain.ts';
import { webhooksApi } from './api.ts';
import { webhooksEvents } from './events.ts';
import { webhooksSchema } from './schema.ts';
import { startWebhooks } from './start.ts';

export const webhooks = defineDomain({
  name: 'webhooks',
  schema: webhooksSchema,
  events: webhooksEvents,
  api: webhooksApi,
  start: startWebhooks,
});
