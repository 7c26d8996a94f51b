/** Schemas of the inputs of a card's counterpart at its issuer, and of its timer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { IssuedCardContract } from './messages.ts';

export const issuedCardInputs = durableInputs<IssuedCardContract>()({
  follow: Type.Object({ status: Type.Union([Type.Literal('active'), Type.Literal('frozen'), Type.Literal('cancelled')]) }),
  tryAgain: Type.Object({}),
});
