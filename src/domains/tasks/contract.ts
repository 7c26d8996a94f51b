/** What other domains may import of tasks: tools for agents, and what they share. */

export { tasksIds } from './ids.ts';
export { askUntilAnswered } from './tools/ask-until-answered.ts';
export { AskAgain, type Preview, type Tool, type ToolContext } from './tools/port.ts';
