/** Schemas of the inputs of a workspace. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { WorkspaceContract } from './messages.ts';

export const workspaceInputs = durableInputs<WorkspaceContract>()({
  create: Type.Object({
    accountId: Type.String(),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    claimedBy: Type.Optional(Type.String()),
  }),
  filesChanged: Type.Object({ by: Type.Union([Type.Literal(1), Type.Literal(-1)]) }),
});
