/** What other domains may import of tasks: tools for agents, and what they share. */

export { agentOfApproval } from './agent/agent-of-approval.ts';
export { connectionMade, failAgentsRelyingOn } from './agent/connections.ts';
export { tasksIds } from './ids.ts';
export { CreateTaskBody } from './routes/tasks.ts';
export type { DeployConfigsPort, DeploymentPort } from './task/ports.ts';
export { askUntilAnswered, queryUntilAnswered } from './tools/ask-until-answered.ts';
export { pageText } from './tools/html-text.ts';
export { ApprovalExpired as AskAgain, type Preview, type Tool, type ToolContext } from './tools/port.ts';
export {
  type CheckedArguments,
  ConnectionLost,
  NeedsConnection,
  type SourcedTool,
  type ToolOwner,
  type ToolSource,
} from './tools/source.ts';
