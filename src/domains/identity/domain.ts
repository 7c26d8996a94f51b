import { defineDomain } from '../domain.ts';
import { identityApi } from './api.ts';
import { identitySchema } from './schema.ts';

export const identity = defineDomain({ name: 'identity', schema: identitySchema, api: identityApi });
