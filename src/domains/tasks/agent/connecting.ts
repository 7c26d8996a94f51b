/**
 * An agent whose call needs a service that is not connected: it waits until the service is, as for an approval. Trying the call without a
 * connection does nothing but find out where to connect; when the service is connected the same call is tried again, and what must be known
 * about its tool (whether a person decides first, above all) comes with the outcome.
 */
import type { TurnContext } from '../../../actors/define-actor.ts';
import type { ToolOutcome } from '../tools/port.ts';
import { callDone } from './advance.ts';
import type { AgentRow, CallSource, PendingCall } from './entity.ts';
import type { AgentContract } from './messages.ts';
import { withConnections } from './model-turn.ts';
import { emit } from './state.ts';

/** The agent after its call was tried without a connection. */
export function waitForConnection(
  agent: AgentRow,
  needed: NonNullable<ToolOutcome['needsConnection']>,
  ctx: TurnContext<AgentContract>,
): AgentRow {
  const { service, connectUrl } = needed;
  const [call, ...others] = agent.calls as [PendingCall, ...PendingCall[]];
  const { connectionMade = false, ...tried } = call;
  const next: AgentRow = { ...agent, effectId: null, calls: [tried, ...others], updatedAt: ctx.nowMs };
  // It was connected after the try had looked.
  if (connectionMade) return next;
  const waiting: AgentRow = { ...next, waitingService: service };
  emit(ctx, waiting, 'agent.waiting', { reason: 'waiting_authorization', service, tool: call.name, connect_url: connectUrl });
  return waiting;
}

/** The call has a connection now, and is made with it. */
export function connected(agent: AgentRow, source: CallSource): AgentRow {
  const [{ connectionMade: _, ...call }, ...others] = agent.calls as [PendingCall, ...PendingCall[]];
  const calls = [{ ...call, source }, ...others];
  return { ...agent, effectId: null, calls, connections: withConnections(agent.connections, calls) };
}

/** A service was connected: an agent that waits for it tries again, and one that is just trying will. */
export function reconsidered(agent: AgentRow, service: string, ctx: TurnContext<AgentContract>): AgentRow {
  const [call, ...others] = agent.calls;
  if (agent.waitingService === service) {
    const status = agent.status === 'paused' ? 'paused' : 'acting';
    return { ...agent, waitingService: null, status, updatedAt: ctx.nowMs };
  }
  if (call?.source === undefined || call.source.connection !== null || call.source.service !== service) return agent;
  return { ...agent, calls: [{ ...call, connectionMade: true }, ...others] };
}

/** A user sends guidance while the agent waits for a connection: the agent continues without it, because only its next model turn gets the guidance. */
export function withoutConnection(agent: AgentRow, ctx: TurnContext<AgentContract>): AgentRow {
  if (agent.waitingService === null) return agent;
  const message = `${agent.waitingService} is not connected, and a person has told you something instead of connecting it. Nothing was done.`;
  const answered = callDone({ ...agent, waitingService: null, status: 'thinking' }, ctx, {
    result: { error: { type: 'unavailable', message } },
    isError: true,
  });
  return answered;
}
