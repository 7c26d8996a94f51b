import { defineDomain } from '../domain.ts';
import { accountsSchema } from './schema.ts';

export const accounts = defineDomain({ name: 'accounts', schema: accountsSchema });
