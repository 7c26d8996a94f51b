/** Schemas of the inputs of an agent. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { Granted } from '../../../scopes.ts';
import type { AgentContract } from './messages.ts';

const Nothing = Type.Object({});
const Scopes = Type.Unsafe<Granted>(Type.Union([Type.Array(Type.String()), Type.Null()]));

export const agentInputs = durableInputs<AgentContract>()({
  create: Type.Object({
    taskId: Type.String(),
    accountId: Type.String(),
    workspaceId: Type.String(),
    type: Type.String(),
    title: Type.String(),
    prompt: Type.String(),
    autonomyLevel: Type.Number(),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')]),
    scopes: Scopes,
    ownsWorkspace: Type.Boolean(),
    model: Type.Union([Type.String(), Type.Null()]),
    outputSchema: Type.Union([Type.Object({}), Type.Null()]),
    allowConnect: Type.Optional(Type.Boolean()),
  }),
  begin: Type.Object({ context: Type.String() }),
  turnGranted: Type.Object({ untrusted: Type.Optional(Type.Boolean()) }),
  stop: Nothing,
  delegated: Type.Object({ callId: Type.String(), outcome: Type.Object({ result: Type.Unknown(), isError: Type.Boolean() }) }),
  taskEnded: Nothing,
});
