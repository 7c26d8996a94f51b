import { defineDomain } from '../domain.ts';
import { tasksApi } from './api.ts';
import { tasksEvents } from './events.ts';
import { tasksSchema } from './schema.ts';

export const tasks = defineDomain({ name: 'tasks', schema: tasksSchema, events: tasksEvents, api: tasksApi });
