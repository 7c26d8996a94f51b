/** Schemas of the timers of a file. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { WorkspaceFileContract } from './messages.ts';

export const workspaceFileInputs = durableInputs<WorkspaceFileContract>()({ removeAgain: Type.Object({ contentKey: Type.String() }) });
