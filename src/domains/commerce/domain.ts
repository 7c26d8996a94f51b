import { defineDomain } from '../domain.ts';
import { commerceSchema } from './schema.ts';

export const commerce = defineDomain({ name: 'commerce', schema: commerceSchema });
