/** Schemas of the durable inputs of a deployment. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { DeployConfig } from '../configs/config.ts';
import { targets } from '../targets.ts';
import type { DeploymentContract } from './messages.ts';

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Snapshot = Type.Object({ snapshotId: Type.String(), files: Type.Integer(), bytes: Type.Integer() });

export const deploymentInputs = durableInputs<DeploymentContract>()({
  create: Type.Object({
    accountId: Type.String(),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')]),
    workspaceId: Type.String(),
    target: Type.Enum([...targets]),
    configId: orNull(Type.String()),
    taskId: orNull(Type.String()),
    config: Type.Optional(orNull(Type.Unsafe<DeployConfig>(Type.Object({ id: Type.String(), credentials: Type.String() })))),
    snapshot: Type.Optional(orNull(Snapshot)),
    site: Type.Optional(orNull(Snapshot)),
  }),
  begin: Type.Object({}),
  pollAgain: Type.Object({ polls: Type.Integer(), detail: Type.String() }),
  lookAgain: Type.Object({}),
  timedOut: Type.Object({}),
});
