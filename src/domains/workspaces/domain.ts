import { defineDomain } from '../domain.ts';
import { workspacesApi } from './api.ts';
import { workspacesEvents } from './events.ts';
import { workspacesIds } from './ids.ts';
import { workspacesSchema } from './schema.ts';
import { startWorkspaces } from './start.ts';

export const workspaces = defineDomain({
  name: 'workspaces',
  ids: workspacesIds,
  schema: workspacesSchema,
  events: workspacesEvents,
  api: workspacesApi,
  start: startWorkspaces,
});
