/** Schemas of the inputs of an account, and of its timers. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AccountContract } from './messages.ts';

const Place = Type.Object({ place: Type.String() });
const Nothing = Type.Object({});

export const accountInputs = durableInputs<AccountContract>()({
  create: Type.Object({ registrationId: Type.String(), claimedBy: Type.String() }),
  taskWaits: Type.Object({ taskId: Type.String() }),
  taskEnded: Type.Object({
    taskId: Type.String(),
    started: Type.Boolean(),
    places: Type.Array(Type.String()),
    asked: Type.Optional(Type.Array(Type.String())),
    returnsPlaces: Type.Optional(Type.Boolean()),
  }),
  beganTooLate: Type.Object({ taskId: Type.String() }),
  agentWaits: Place,
  agentRests: Type.Object({ place: Type.String(), held: Type.Optional(Type.Boolean()) }),
  planned: Type.Object({ taskId: Type.String(), tokens: Type.Number() }),
  used: Type.Object({
    place: Type.Union([Type.String(), Type.Null()]),
    tokens: Type.Number(),
    workedMs: Type.Number(),
    agent: Type.Union([Type.Object({ id: Type.String(), name: Type.String(), workedMs: Type.Number() }), Type.Null()]),
  }),
  periodPaid: Type.Object({
    processorId: Type.String(),
    paymentId: Type.String(),
    plan: Type.String(),
    billingPeriod: Type.String(),
    amountMinor: Type.Integer(),
    startsAtMs: Type.Number(),
    paidUntilMs: Type.Number(),
  }),
  subscriptionEnded: Type.Object({ processorId: Type.String(), paidUntilMs: Type.Optional(Type.Number()) }),
  beginPeriod: Nothing,
  goOn: Type.Object({ heard: Type.Optional(Type.Object({ taskId: Type.String(), reached: Type.Boolean() })) }),
  apiKeyMade: Nothing,
  apiKeyEnded: Nothing,
  tellWaiting: Type.Object({ after: Type.String() }),
  tellTasksAgain: Nothing,
});
