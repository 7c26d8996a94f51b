import { defineDomain } from '../domain.ts';
import { identityApi } from './api.ts';
import { identityIds } from './ids.ts';
import { identitySchema } from './schema.ts';
import { startIdentity } from './start.ts';

export const identity = defineDomain({
  name: 'identity',
  ids: identityIds,
  schema: identitySchema,
  api: identityApi,
  start: startIdentity,
});
