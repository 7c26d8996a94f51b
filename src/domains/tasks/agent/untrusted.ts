/** Which calls of agents bring text that others wrote into a conversation or a file. */
import type { EffectOutcome } from '../../../actors/define-actor.ts';
import type { AgentType, Tool, Toolbox, ToolOutcome } from '../tools/port.ts';
import type { AgentRow } from './entity.ts';

/** Whether the outcome of the agent's call holds text of others. Errors of the catalogue's tools are texts of this service, unless they read a file. */
export function isUntrusted({ type, calls: [call] }: AgentRow, outcome: EffectOutcome<ToolOutcome>, toolbox: Toolbox): boolean {
  if (outcome.kind !== 'done' || call === undefined) return false;
  if (outcome.value.untrusted === true) return true;
  if (call.source !== undefined) return call.source.untrusted;
  return !outcome.value.isError && toolbox.find(type as AgentType, call.name)?.untrusted === true;
}

/** The agent as the writer of files during a call: the tool itself may write what it has read, such as a long result. */
export function writerDuring(agent: AgentRow, tool: Pick<Tool, 'untrusted'> | undefined): AgentRow {
  return tool?.untrusted === true ? { ...agent, holdsUntrusted: true } : agent;
}
