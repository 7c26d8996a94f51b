/** Schemas of the durable inputs of a connection. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { IntegrationContract } from './messages.ts';

export const integrationInputs = durableInputs<IntegrationContract>()({ check: Type.Object({}) });
