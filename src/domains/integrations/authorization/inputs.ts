/** Schemas of the durable inputs of an authorization. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { AuthorizationContract } from './messages.ts';

export const authorizationInputs = durableInputs<AuthorizationContract>()({ used: Type.Object({}) });
