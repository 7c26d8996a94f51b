/** Schemas of the inputs of a task. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { Granted } from '../../../scopes.ts';
import type { AgentStatus, AgentWaitsFor } from '../agent/entity.ts';
import type { Approval } from './entity.ts';
import type { TaskContract } from './messages.ts';

const text = Type.Union([Type.String(), Type.Null()]);
const Place = Type.Object({ place: Type.String() });
const WaitingFor = Type.Union([
  Type.Object({ kind: Type.Literal('concurrency'), of: Type.String(), allowed: Type.Number() }),
  Type.Object({ kind: Type.Literal('plan_limit'), of: Type.String(), allowed: Type.Number(), resetsAtMs: Type.Number() }),
]);
const Scopes = Type.Unsafe<Granted>(Type.Union([Type.Array(Type.String()), Type.Null()]));

export const taskInputs = durableInputs<TaskContract>()({
  begin: Type.Object({}),
  requestTurn: Type.Object({ agentId: Type.String(), wants: Type.Union([Type.Literal('turn'), Type.Literal('calls')]) }),
  mustWait: Type.Object({ waitingFor: WaitingFor }),
  placeLacking: Type.Object({ place: Type.String(), allowed: Type.Number() }),
  placeGiven: Place,
  counted: Place,
  planLimit: Type.Object({ reached: Type.Boolean(), limit: Type.Union([WaitingFor, Type.Null()]) }),
  report: Type.Object({
    agentId: Type.String(),
    status: Type.Unsafe<AgentStatus>(Type.String()),
    waitingFor: Type.Optional(Type.Unsafe<AgentWaitsFor | null>(text)),
    untrusted: Type.Optional(Type.Boolean()),
    currentTool: text,
    progress: Type.Number(),
    result: text,
    error: text,
    turn: Type.Union([Type.Object({ tokens: Type.Number(), costMillicents: Type.Number(), model: text }), Type.Null()]),
    approval: Type.Unsafe<Approval | null>(Type.Union([Type.Object({ id: Type.String(), status: Type.String() }), Type.Null()])),
    rests: Type.Boolean(),
    work: Type.Union([Type.Object({ ms: Type.Number(), inAllMs: Type.Number() }), Type.Null()]),
  }),
  delegate: Type.Object({
    agentId: Type.String(),
    callId: Type.String(),
    type: Type.String(),
    prompt: Type.String(),
    scopes: Scopes,
  }),
  delivered: Type.Object({
    name: Type.String(),
    type: Type.String(),
    sizeBytes: Type.Integer(),
    sha256: Type.String(),
    contentKey: Type.String(),
  }),
});
