/** The tables of billing. */
import type { Schema } from '../../storage/schema.ts';
import { Checkout } from './checkout/entity.ts';
import { Renewal } from './renewal/entity.ts';

export const billingSchema: Schema = { entities: [Checkout, Renewal] };
