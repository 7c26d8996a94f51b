/** Schemas of the inputs of a workspace name. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { WorkspaceNameContract } from './messages.ts';

export const workspaceNameInputs = durableInputs<WorkspaceNameContract>()({
  created: Type.Object({ workspace: Type.Object({ id: Type.String(), accountId: Type.String(), name: Type.String() }) }),
});
