/** What other domains may use of tasks: a task, and what a tool for agents is. */
export { task } from './task/messages.ts';
export type { Tool } from './tools/port.ts';
