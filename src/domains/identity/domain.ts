import { defineDomain } from '../domain.ts';
import { identitySchema } from './schema.ts';

export const identity = defineDomain({ name: 'identity', schema: identitySchema });
