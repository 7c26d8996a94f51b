/** Schemas of the inputs of a throttle. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { ThrottleContract } from './messages.ts';

export const throttleInputs = durableInputs<ThrottleContract>()({ forget: Type.Null() });
