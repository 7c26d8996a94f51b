import { defineDomain } from '../domain.ts';
import { workspacesSchema } from './schema.ts';

export const workspaces = defineDomain({ name: 'workspaces', schema: workspacesSchema });
