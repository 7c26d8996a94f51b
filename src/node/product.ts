/** Combines a list of domains: one schema, one catalogue of events, one API reference, and their start on a node. */
import type { Domain, Platform, StartedDomain } from '../domains/domain.ts';
import type { Authenticator } from '../edge/auth/authenticator.ts';
import { EventCatalogue } from '../edge/stream/event-catalogue.ts';
import { firstRepeated } from '../first-repeated.ts';
import { idPrefixes } from '../ids.ts';
import { joinSchemas, type Schema } from '../storage/schema.ts';
import { type ApiReference, apiReferenceOf } from './api-reference.ts';

export type Product = {
  schema: Schema;
  eventCatalogue: EventCatalogue;
  apiReference: ApiReference;
  /** Starts all domains: register their actors, then start the runtime. */
  start(platform: Omit<Platform, 'eventCatalogue'>): StartedProduct;
};
export type StartedProduct = { domains: readonly StartedDomain[]; authenticator: Authenticator };

/** Throws if two domains share a name, an id prefix, a family of events, or an example of a field. */
export function productOf(domains: readonly Domain[]): Product {
  refuseRepeated(
    'name',
    domains.map(({ name }) => name),
  );
  refuseRepeated('prefix of ids', [...Object.values(idPrefixes), ...domains.flatMap(({ ids }) => Object.values(ids))]);
  const eventCatalogue = new EventCatalogue(domains.map(({ events = {} }) => events));
  return {
    schema: joinSchemas(domains.map(({ schema }) => schema)),
    eventCatalogue,
    apiReference: apiReferenceOf(domains),
    start(given) {
      const platform = { ...given, eventCatalogue };
      const opened = domains.map((domain) => ({ domain, parts: domain.open?.(platform) }));
      const agentTools = opened.flatMap(({ domain, parts }) => domain.agentTools?.(platform, parts) ?? []);
      const toolSources = opened.flatMap(({ domain, parts }) => domain.toolSource?.(platform, parts) ?? []);
      const started = opened.map(({ domain, parts }) => domain.start({ ...platform, agentTools, toolSources }, parts));
      const { authenticator } = started.find((domain) => domain.authenticator !== undefined) ?? {};
      if (authenticator === undefined) throw new Error('No domain says who is calling');
      return { domains: started, authenticator };
    },
  };
}

function refuseRepeated(what: string, values: readonly string[]): void {
  const repeated = firstRepeated(values);
  if (repeated !== undefined) throw new Error(`Two domains have one ${what}: ${repeated}`);
}
