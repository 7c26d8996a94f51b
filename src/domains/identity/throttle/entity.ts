/** Counts of wrong attempts. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../../../storage/column-types.ts';

/** The recent times of a limited event, e.g. a wrong password for one address. */
export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'throttle',
  properties: {
    id: p.text().primary(),
    /** Milliseconds since 1970, oldest first. */
    times: json<number[]>(),
    /** After this time the row has no effect. */
    forgetAt: epochMs(),
  },
});
export type ThrottleRow = InferEntity<typeof Throttle>;
