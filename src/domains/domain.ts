/** What a domain is: one part of the product, which a node serves because it stands in the list of `src/node/domains.ts`. */
import type { Schema } from '../storage/schema.ts';

export type Domain = {
  /** As its folder. */
  name: string;
  schema: Schema;
};

/** Checks the types and returns the same. */
export function defineDomain<D extends Domain>(domain: D): D {
  return domain;
}
