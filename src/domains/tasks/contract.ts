/** What other domains may use of tasks: what a tool for agents is. */

export { tasksIds } from './ids.ts';
export type { Tool } from './tools/port.ts';
