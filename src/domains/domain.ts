/** What a domain is: one part of the product, which a node serves because it stands in the list of `src/node/domains.ts`. */
import type { ReferencePart } from '../edge/http/reference-part.ts';
import type { EventFamilies } from '../edge/stream/event-catalogue.ts';
import type { Schema } from '../storage/schema.ts';

export type Domain = {
  /** As its folder. */
  name: string;
  schema: Schema;
  /** The families of its events. */
  events?: EventFamilies;
  /** Its chapters of the API reference. */
  api?: ReferencePart;
};

/** Checks the types and returns the same. */
export function defineDomain<D extends Domain>(domain: D): D {
  return domain;
}
