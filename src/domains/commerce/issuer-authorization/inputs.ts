/** Schemas of the timers of an authorization at an issuer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { IssuerAuthorizationContract } from './messages.ts';

export const issuerAuthorizationInputs = durableInputs<IssuerAuthorizationContract>()({
  chargeAgain: Type.Object({}),
  look: Type.Object({}),
});
