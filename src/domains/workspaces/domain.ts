import { defineDomain } from '../domain.ts';
import { workspacesApi } from './api.ts';
import { workspacesEvents } from './events.ts';
import { workspacesSchema } from './schema.ts';
import { startWorkspaces } from './start.ts';

export const workspaces = defineDomain({
  name: 'workspaces',
  schema: workspacesSchema,
  events: workspacesEvents,
  api: workspacesApi,
  start: startWorkspaces,
});
