import { defineDomain } from '../domain.ts';
import { webhooksSchema } from './schema.ts';

export const webhooks = defineDomain({ name: 'webhooks', schema: webhooksSchema });
