import { defineDomain } from '../domain.ts';
import { tasksSchema } from './schema.ts';

export const tasks = defineDomain({ name: 'tasks', schema: tasksSchema });
