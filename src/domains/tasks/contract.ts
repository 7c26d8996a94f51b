/** What other domains may import of tasks: the type of a tool for agents. */

export { tasksIds } from './ids.ts';
export type { Tool } from './tools/port.ts';
