import { defineDomain } from '../domain.ts';
import { webhooksApi } from './api.ts';
import { webhooksEvents } from './events.ts';
import { webhooksIds } from './ids.ts';
import { webhooksSchema } from './schema.ts';
import { startWebhooks } from './start.ts';

export const webhooks = defineDomain({
  name: 'webhooks',
  ids: webhooksIds,
  schema: webhooksSchema,
  events: webhooksEvents,
  api: webhooksApi,
  start: startWebhooks,
});
