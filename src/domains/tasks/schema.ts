/** The tables of tasks. */
import type { Schema } from '../../storage/schema.ts';
import { Agent, AgentStep } from './agent/entity.ts';
import { Deliverable, Task } from './task/entity.ts';

export const tasksSchema: Schema = { entities: [Agent, AgentStep, Deliverable, Task] };
