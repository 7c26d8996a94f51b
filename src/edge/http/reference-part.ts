/** What a part of the service adds to the API reference besides its routes, and how several parts are merged. */
import { firstRepeated } from '../../first-repeated.ts';
import type { KnownExamples } from './examples.ts';
import type { Chapter, OpenApiOptions } from './openapi.ts';

export type ReferencePart = {
  chapters: readonly Chapter[];
  /**
   * By field name; `Title.name` where the name alone is ambiguous; a path for its parameter. Missing examples are made from the schema; a
   * schema with its own `examples` needs none here. They hold for all routes: a field of the same name in two domains needs its title.
   */
  examples?: KnownExamples;
  /** Notifications that the service sends, in OpenAPI form. */
  webhooks?: Readonly<Record<string, object>>;
};

/**
 * Throws where two parts have an example of the same name.
 *
 * @param order names of chapters in the order of the reference; other chapters follow in the order of `parts`
 */
export function joinReference(
  parts: readonly ReferencePart[],
  order: readonly string[],
): Pick<OpenApiOptions, 'chapters' | 'examples' | 'webhooks'> {
  const place = ({ name }: Chapter) => (order.includes(name) ? order.indexOf(name) : order.length);
  const examples = parts.flatMap((part) => Object.entries(part.examples ?? {}));
  const twice = firstRepeated(examples.map(([name]) => name));
  if (twice !== undefined) throw new Error(`Two parts of the API have an example for ${twice}: say whose with a title`);
  return {
    chapters: parts.flatMap(({ chapters }) => chapters).sort((one, other) => place(one) - place(other)),
    examples: Object.fromEntries(examples),
    webhooks: Object.assign({}, ...parts.map(({ webhooks }) => webhooks)),
  };
}
