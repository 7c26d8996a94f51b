import { defineDomain } from '../domain.ts';
import { billingApi } from './api.ts';
import { billingIds } from './ids.ts';
import { billingSchema } from './schema.ts';
import { startBilling } from './start.ts';

export const billing = defineDomain({ name: 'billing', ids: billingIds, schema: billingSchema, api: billingApi, start: startBilling });
