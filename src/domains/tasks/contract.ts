/** What other domains may use of tasks: a task. */
export { task } from './task/messages.ts';
