import { defineDomain } from '../domain.ts';
import { accountsApi } from './api.ts';
import { accountsEvents } from './events.ts';
import { accountsIds } from './ids.ts';
import { accountsSchema } from './schema.ts';
import { startAccounts } from './start.ts';

export const accounts = defineDomain({
  name: 'accounts',
  ids: accountsIds,
  schema: accountsSchema,
  events: accountsEvents,
  api: accountsApi,
  start: startAccounts,
});
