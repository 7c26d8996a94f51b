/**
 * Calls of tools that come from a source (`tools/source.ts`). Turns are synchronous and cannot ask a source. So the effect of a model turn
 * checks such calls and gives each what turns must know about its tool; the effect of the call asks the source again, because the
 * connection may have ended since, or the tool changed.
 */
import Type from 'typebox';
import type { EffectContext, EffectDefinition } from '../../../actors/define-actor.ts';
import type { ModelReply } from '../../../providers/model/port.ts';
import { sourcedToolsOf, type ToolUser, type UsableTools } from '../tools/joined-sources.ts';
import type { AgentType, Toolbox, ToolContext, ToolOutcome } from '../tools/port.ts';
import { checkCall } from '../tools/run-tool.ts';
import type { CheckedArguments, SourcedTool, ToolSource } from '../tools/source.ts';
import type { AgentRow, CallSource } from './entity.ts';
import type { AgentReply, SourcedCall } from './messages.ts';
import { writerDuring } from './untrusted.ts';

export type SourcedCallParts = {
  toolbox: Toolbox;
  sources: readonly ToolSource[];
  load(agentId: string): Promise<AgentRow>;
  contextOf(agent: AgentRow, run: EffectContext): ToolContext;
  onDefect(agent: AgentRow, tool: string): (error: unknown) => void;
  timeoutMs: number;
};

/** The sourced tools that an agent may use now, and those that it may not. */
export function sourcedToolsFor(
  agent: AgentRow,
  { toolbox, sources }: Pick<SourcedCallParts, 'toolbox' | 'sources'>,
  signal: AbortSignal,
): Promise<UsableTools> {
  if (sources.length === 0) return Promise.resolve({ usable: [], withheld: [] });
  return sourcedToolsOf(sources, userOf(agent), (name) => toolbox.find(agent.type as AgentType, name) !== undefined, signal);
}

/**
 * The model's answer; its calls of sourced tools are checked.
 *
 * @param offered the tools that the model was offered
 * @param now the tools after the answer, which may be others
 */
export async function withSources(
  reply: ModelReply,
  offered: readonly SourcedTool[],
  now: readonly SourcedTool[],
  signal: AbortSignal,
): Promise<AgentReply['toolCalls']> {
  return Promise.all(
    reply.toolCalls.map(async (call) => {
      const isCalled = ({ name }: SourcedTool) => name === call.name;
      const tool = now.find(isCalled);
      if (tool !== undefined) {
        const checked = await checkCall(tool, call.arguments, signal);
        return { ...call, sourced: { source: sourceOf(tool), checked } };
      }
      return offered.some(isCalled) ? { ...call, isGone: true } : call;
    }),
  );
}

/** Arguments that a person puts in place of the model's, for a call that waits; null: its tool is no longer there. */
export async function checkEdit(
  agent: AgentRow,
  name: string,
  edited: unknown,
  parts: Pick<SourcedCallParts, 'toolbox' | 'sources'>,
): Promise<CheckedArguments | null> {
  const { usable } = await sourcedToolsFor(agent, parts, AbortSignal.timeout(10_000));
  const tool = usable.find((one) => one.name === name);
  return tool === undefined ? null : checkCall(tool, edited);
}

export function sourcedCallEffects(parts: SourcedCallParts): {
  sourcedTool: EffectDefinition<SourcedCall, ToolOutcome>;
  sourcedPreview: EffectDefinition<SourcedCall, ToolOutcome>;
} {
  const { toolbox, load, contextOf, onDefect, timeoutMs } = parts;
  const find = async (agent: AgentRow, call: SourcedCall, signal: AbortSignal): Promise<SourcedTool | ToolOutcome> => {
    const { usable } = await sourcedToolsFor(agent, parts, signal);
    const tool = usable.find(({ name }) => name === call.name);
    if (tool === undefined) return connectionRemoved(call.name);
    if (call.connection === null && tool.connection !== null) return { result: null, isError: false, nowConnected: sourceOf(tool) };
    return tool.connection === call.connection ? tool : connectionRemoved(call.name);
  };
  const common = { input: CallInput, lane: 'tool', timeoutMs } as const;
  return {
    sourcedTool: {
      ...common,
      outcome: 'toolDone',
      repeatable: ({ repeatable }) => repeatable,
      async run(call, run) {
        const agent = await load(run.actorId);
        const tool = await find(agent, call, run.signal);
        if ('isError' in tool) return tool;
        const context = { ...contextOf(writerDuring(agent, tool), run), approvedBasis: call.approvedBasis ?? null };
        return toolbox.runSourced(tool, call.arguments, context, onDefect(agent, call.name));
      },
    },
    sourcedPreview: {
      ...common,
      outcome: 'previewed',
      repeatable: () => true,
      async run(call, run) {
        const agent = await load(run.actorId);
        const tool = await find(agent, call, run.signal);
        if ('isError' in tool) return tool;
        return toolbox.previewSourced(tool, call.arguments, contextOf(agent, run), onDefect(agent, call.name));
      },
    },
  };
}

const CallInput = Type.Object({
  callId: Type.String(),
  name: Type.String(),
  arguments: Type.Unknown(),
  approvedBasis: Type.Optional(Type.Unknown()),
  connection: Type.Union([Type.String(), Type.Null()]),
  repeatable: Type.Boolean(),
});

function userOf({ type, mode, scopes, ownsWorkspace, accountId, taskId, allowConnect }: AgentRow): ToolUser {
  const owner = { accountId, mode, taskId, allowConnect };
  return { type: type as AgentType, authority: { mode, scopes, ownsWorkspace }, owner };
}

function sourceOf({ connection, service, need, highConsequence, repeatable, preview, untrusted = false }: SourcedTool): CallSource {
  return { connection, service, need, highConsequence, repeatable, previews: preview !== undefined, untrusted };
}

/** The error of a call whose tool is not there any more. */
export function goneError(name: string): { type: string; message: string } {
  const message = `${name} is not available any more: its service was disconnected, or the tool was changed. Nothing was done.`;
  return { type: 'forbidden', message };
}

function connectionRemoved(name: string): ToolOutcome {
  return { result: { error: goneError(name) }, isError: true };
}
