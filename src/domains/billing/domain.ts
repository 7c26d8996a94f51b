import { defineDomain } from '../domain.ts';
import { billingApi } from './api.ts';
import { billingSchema } from './schema.ts';
import { startBilling } from './start.ts';

export const billing = defineDomain({ name: 'billing', schema: billingSchema, api: billingApi, start: startBilling });
