import { defineDomain } from '../domain.ts';
import { identityApi } from './api.ts';
import { identitySchema } from './schema.ts';
import { startIdentity } from './start.ts';

export const identity = defineDomain({ name: 'identity', schema: identitySchema, api: identityApi, start: startIdentity });
