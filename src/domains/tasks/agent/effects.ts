/** Effects of agents: the model, tools, and the check of their output. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext, EffectDefinition, EffectsOf } from '../../../actors/define-actor.ts';
import type { Authority } from '../../../authority.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Compute } from '../../../providers/compute/port.ts';
import type { Model, ModelMessage, ModelRequest, WithheldTool } from '../../../providers/model/port.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings } from '../../accounts/contract.ts';
import type { WorkspaceAccess } from '../../workspaces/contract.ts';
import type { UsableTools } from '../tools/joined-sources.ts';
import type { AgentMail, AgentType, Toolbox, ToolContext, ToolOutcome } from '../tools/port.ts';
import type { ToolSource } from '../tools/source.ts';
import type { AgentRow } from './entity.ts';
import { type AgentContract, agent as agentRef, type ToolCall } from './messages.ts';
import { fullAutonomy } from './needs-approval.ts';
import { checkOutput, checkOutputMs } from './output.ts';
import { sourcedCallEffects, sourcedToolsFor, withSources } from './sourced-calls.ts';
import { writerDuring } from './untrusted.ts';

export type AgentServices = {
  model: Model;
  toolbox: Toolbox;
  sources: readonly ToolSource[];
  /** The workspace of an agent's task, for one tool call, as far as `authority` allows. */
  workspace(agent: AgentRow, authority: Authority, callId: string): WorkspaceAccess;
  /** Mails on behalf of the account, for one tool call. */
  mail(agent: AgentRow, callId: string): AgentMail;
  database: Database;
  actors: ActorSystem;
  compute: Compute;
  log: Log;
};

/** Longer than the model's own retries; ends a call to an endpoint that hangs. */
const modelTimeoutMs = 15 * 60_000;
const maxOutputTokens = 8_000;
/** The tool's own time limit is shorter and reported to the agent; this one only catches a tool that ignores it. */
const toolTimeoutMs = 15 * 60_000;

export function agentEffects(services: AgentServices): EffectsOf<AgentContract> {
  const { model, toolbox, workspace, mail, compute, log } = services;
  const load = async (id: string): Promise<AgentRow> => {
    const agent = await services.actors.query(agentRef, id, 'get', null);
    if (agent === null) throw new AppError('not_found', 'The agent is gone');
    return agent;
  };
  const contextOf = (agent: AgentRow, { effectId: callId, isRepeat, signal, releaseSlot }: EffectContext): ToolContext => {
    const authority = authorityOf(agent);
    return {
      accountId: agent.accountId,
      taskId: agent.taskId,
      agentId: agent.id,
      callId,
      isRepeat,
      slotOwner: agent.accountId,
      authority,
      signal,
      workspace: workspace(agent, authority, callId),
      workspaceId: agent.workspaceId,
      mail: mail(agent, callId),
      approvedBasis: null,
      releaseSlot,
    };
  };
  /** Below full autonomy nothing depends on it. */
  const trustsContentOf = async ({ autonomyLevel, accountId }: AgentRow): Promise<boolean> =>
    autonomyLevel >= fullAutonomy && ((await services.actors.query(accountSettings, accountId, 'get', null)).trustToolContent ?? false);
  const onDefect = (agent: AgentRow, name: string) => (err: unknown) =>
    log.error({ tool: name, agent_id: agent.id, task_id: agent.taskId, err }, 'a tool failed unexpectedly');
  const CallInput = Type.Object({
    callId: Type.String(),
    name: Type.String(),
    arguments: Type.Unknown(),
    approvedBasis: Type.Optional(Type.Unknown()),
  });
  /** @param withSlot bought things have ids with the account's slot. Purchases recorded as `tool` come from versions without such ids. */
  const callOf = (withSlot: boolean): EffectDefinition<ToolCall, ToolOutcome> => ({
    outcome: 'toolDone',
    input: CallInput,
    lane: 'tool',
    timeoutMs: toolTimeoutMs,
    repeatable: ({ name }: { name: string }) => toolbox.isRepeatable(name),
    async run({ name, arguments: args, approvedBasis = null }: ToolCall, run) {
      const agent = await load(run.actorId);
      const writer = writerDuring(agent, toolbox.find(agent.type as AgentType, name));
      const context = { ...contextOf(writer, run), ...(withSlot ? null : { slotOwner: null }), approvedBasis };
      const outcome = await toolbox.run(name, args, context, onDefect(agent, name));
      return context.workspace.hasReadUntrusted() ? { ...outcome, untrusted: true } : outcome;
    },
  });
  return {
    model: {
      outcome: 'modelled',
      input: Type.Object({ turn: Type.Number() }),
      lane: 'model',
      timeoutMs: modelTimeoutMs,
      repeatable: () => true,
      async run(_input, { actorId, effectId, signal }) {
        const agent = await load(actorId);
        const [messages, sourced] = await Promise.all([history(services.database, actorId), sourcedToolsFor(agent, services, signal)]);
        const trustsContent = await trustsContentOf(agent);
        const request = turnRequest({ ...agent, holdsUntrusted: agent.holdsUntrusted && !trustsContent }, messages, toolbox, sourced);
        const reply = await model.turn(request, { signal, idempotencyKey: effectId, account: agent.accountId });
        const calls = reply.toolCalls.map(({ name }) => name);
        if (!sourced.usable.some(({ name }) => calls.includes(name))) return { ...reply, trustsContent };
        // A turn may take minutes: the tools may be others by now.
        const { usable } = await sourcedToolsFor(agent, services, signal);
        return { ...reply, toolCalls: await withSources(reply, sourced.usable, usable, signal), trustsContent };
      },
    },
    ...sourcedCallEffects({ toolbox, sources: services.sources, load, contextOf, onDefect, timeoutMs: toolTimeoutMs }),
    tool: callOf(false),
    purchase: callOf(true),
    preview: {
      outcome: 'previewed',
      input: CallInput,
      lane: 'tool',
      timeoutMs: toolTimeoutMs,
      repeatable: () => true,
      async run({ name, arguments: args }: ToolCall, run) {
        const agent = await load(run.actorId);
        return toolbox.preview(name, args, contextOf(agent, run), onDefect(agent, name));
      },
    },
    checkOutput: {
      outcome: 'outputChecked',
      lane: 'tool',
      timeoutMs: checkOutputMs,
      repeatable: () => true,
      async run(_input, { actorId, effectId, signal }) {
        const agent = await load(actorId);
        if (agent.outputSchema === null) return { problem: null };
        const { accountId: account, outputSchema } = agent;
        // The service itself reads the file, not the agent, which may have lost the scope.
        const authority = { ...authorityOf(agent), scopes: null };
        const files = workspace(agent, authority, effectId);
        const problem = await checkOutput(compute, outputSchema, files, { account, signal });
        return files.hasReadUntrusted() ? { problem, untrusted: true } : { problem };
      },
    },
  };
}

export function authorityOf({ mode, scopes, ownsWorkspace }: AgentRow): Authority {
  return { mode, scopes, ownsWorkspace };
}

/** The agent's conversation so far, oldest first; each entry was stored once, when it happened. */
async function history(database: Database, agentId: string): Promise<ModelMessage[]> {
  const { rows } = await database.read({
    name: 'agent_history',
    text: 'select entry from agent_step where agent_id = $1 order by step',
    values: [agentId],
  });
  return rows.map((row) => row.entry as ModelMessage);
}

function turnRequest(agent: AgentRow, messages: ModelMessage[], toolbox: Toolbox, sourced: UsableTools): ModelRequest {
  const type = agent.type as AgentType;
  const system = [toolbox.instructionsFor(type)];
  if (agent.outputSchema !== null) {
    system.push(
      `Besides what else you deliver, write the file output.json.\noutput.json must satisfy this JSON Schema:\n${JSON.stringify(agent.outputSchema)}`,
    );
  }
  if (agent.autonomyLevel < fullAutonomy || agent.holdsUntrusted)
    system.push(
      'Actions that reach people, spend, trade or deploy wait for the approval of a person; that may take a while and may be refused.',
    );
  const withheld = [...toolbox.withheldFrom(type, agent), ...sourced.withheld];
  if (withheld.length > 0) system.push(withheldText(withheld));
  const tools = toolbox.offersFor(type, agent, sourced.usable);
  return { system: system.join('\n\n'), messages, tools, withheld, maxOutputTokens, model: agent.model ?? undefined };
}

function withheldText(withheld: WithheldTool[]): string {
  const listed = withheld.map(({ name, scope }) => `${name} (scope ${scope})`).join(', ');
  return `Not allowed in this task, because whoever made it or guided you was not granted the scope: ${listed}. Do not try to reach the same in another way. Where the task asks for it, say in your result that it was not done, and which scope it needs.`;
}
