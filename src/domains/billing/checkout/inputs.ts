/** Schemas of the timers of a checkout. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { CheckoutContract } from './messages.ts';

const Nothing = Type.Object({});

export const checkoutInputs = durableInputs<CheckoutContract>()({ lookAgain: Nothing, subscribeAgain: Nothing, returnAgain: Nothing });
