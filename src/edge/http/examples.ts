/** Examples for the description, generated from the schemas: a field's name and type determine most of them. */
import { Check } from 'typebox/schema';

/** A value by field name, `limit`, or by schema title and field name, `Task.id`. A value that the schema refuses is not used. */
export type KnownExamples = Readonly<Record<string, unknown>>;

type Schema = {
  title?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  enum?: unknown[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
};

const formats: Record<string, string> = {
  email: 'ann@example.com',
  date: '2026-03-01',
  'date-time': '2026-03-01T09:30:00.000Z',
  uri: 'https://example.com',
};

/** An example id with this prefix. */
export function exampleId(prefix: string): string {
  return `${prefix}01jny8e2zjv6x0r3k9m4t7w5ab`;
}

/**
 * A value that the schema accepts, with all optional fields; the schema's own `examples` are preferred.
 *
 * @param name of the field that holds the value; empty for a whole body
 * @param within title of the enclosing schema
 */
export function exampleOf(schema: unknown, known: KnownExamples, name = '', within = ''): unknown {
  const { title = within, ...given } = schema as Schema;
  if (given.examples !== undefined) return given.examples[0];
  if ('const' in given) return given.const;
  for (const key of [`${within}.${name}`, name]) if (Object.hasOwn(known, key) && Check(schema as never, known[key])) return known[key];
  if ('default' in given) return given.default;
  if (given.enum !== undefined) return given.enum[0];
  if (given.anyOf !== undefined) return exampleOf(given.anyOf[0], known, name, within);
  if (given.allOf !== undefined) return Object.assign({}, ...given.allOf.map((part) => exampleOf(part, known, name, within)));
  switch (Array.isArray(given.type) ? given.type[0] : given.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(given.properties ?? {}).map(([field, inner]) => [field, exampleOf(inner, known, field, title)]),
      );
    case 'array':
      return [exampleOf(given.items ?? {}, known, name, within)];
    case 'integer':
    case 'number':
      return given.exclusiveMinimum === undefined ? (given.minimum ?? 1) : Math.max(given.exclusiveMinimum + 1, given.minimum ?? 1);
    case 'boolean':
      return true;
    case 'string':
      return formats[given.format ?? ''] ?? 'text'.padEnd(given.minLength ?? 0, ' and more');
    default:
      return null;
  }
}
