/** The tables of tasks. */
import type { Schema } from '../../storage/schema.ts';
import { Agent, AgentStep } from './agent/entity.ts';
import { ConnectedTools } from './migrations/0040-connected-tools.ts';
import { DeploymentOfTasks } from './migrations/0047-deployment-of-tasks.ts';
import { Deliverable, Task } from './task/entity.ts';

export const tasksSchema: Schema = { entities: [Agent, AgentStep, Deliverable, Task], migrations: [ConnectedTools, DeploymentOfTasks] };
