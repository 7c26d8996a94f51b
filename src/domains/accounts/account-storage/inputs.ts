/** Schemas of the inputs of an account's storage. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AccountStorageContract } from './messages.ts';

export const accountStorageInputs = durableInputs<AccountStorageContract>()({
  changed: Type.Object({ contentKey: Type.Union([Type.String(), Type.Null()]), bytes: Type.Integer(), files: Type.Integer() }),
});
