import { defineDomain } from '../domain.ts';
import { tasksApi } from './api.ts';
import { tasksEvents } from './events.ts';
import { tasksIds } from './ids.ts';
import { tasksSchema } from './schema.ts';
import { startTasks } from './start.ts';
import { taskTools } from './tools/task-tools.ts';

export const tasks = defineDomain({
  name: 'tasks',
  ids: tasksIds,
  schema: tasksSchema,
  events: tasksEvents,
  api: tasksApi,
  agentTools: (platform) => taskTools({ ...platform, searchUrl: platform.config.searchUrl }),
  start: startTasks,
});
