/** The forms of what a throttle is sent. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { ThrottleContract } from './messages.ts';

export const throttleInputs = durableInputs<ThrottleContract>()({ forget: Type.Null() });
