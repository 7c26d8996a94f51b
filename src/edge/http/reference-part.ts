/** What a part of the service brings to the API reference besides its routes, and how several parts become one. */
import { firstRepeated } from '../../first-repeated.ts';
import type { KnownExamples } from './examples.ts';
import type { Chapter, OpenApiOptions } from './openapi.ts';

export type ReferencePart = {
  chapters: readonly Chapter[];
  /**
   * By the names of fields; `Title.name` where the name alone says too little, a path for a parameter in it. What is missing is made from the
   * schema; a schema with `examples` of its own needs nothing here. They hold for all routes: a field of the same name in two domains needs
   * its title.
   */
  examples?: KnownExamples;
  /** What the service sends of its own accord, as OpenAPI has it. */
  webhooks?: Readonly<Record<string, object>>;
};

/**
 * Throws where two parts have an example of one name.
 *
 * @param order names of chapters as they come in the reference; chapters that are not named follow in the order of `parts`
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
