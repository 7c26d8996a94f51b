import { defineDomain } from '../domain.ts';
import { billingApi } from './api.ts';
import { billingSchema } from './schema.ts';

export const billing = defineDomain({ name: 'billing', schema: billingSchema, api: billingApi });
