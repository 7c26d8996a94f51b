/** Values for JSON Schemas: valid and invalid ones. */
import fc from 'fast-check';
import type { JsonSchema } from '../support/described-api.ts';
import { wrongValues } from '../support/hostile-values.ts';

/** Whatever JSON can say, the worst of it often. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...wrongValues) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
);

const longestChars = 300;
const mostItems = 5;

/** A value that the schema accepts, as a rule; its own edges often. */
export function fitting(schema: JsonSchema & { pattern?: string; examples?: unknown[] }): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(fitting));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return objectOf(schema, fitting);
    case 'array': {
      const { minItems = 0, maxItems = mostItems } = schema;
      return fc.array(fitting(schema.items ?? {}), { minLength: minItems, maxLength: Math.min(maxItems, minItems + mostItems) });
    }
    case 'integer':
      return fc.integer({ min: lowest(schema), max: schema.maximum ?? 2 ** 31 });
    case 'number': {
      const { maximum = 1e9 } = schema;
      return fc.oneof(
        fc.constantFrom(lowest(schema), maximum),
        fc.double({ min: lowest(schema), max: maximum, noNaN: true }).map((value) => Math.round(value * 100) / 100),
      );
    }
    case 'boolean':
      return fc.boolean();
    case 'string':
      return textOf(schema);
    case 'null':
      return fc.constant(null);
    default:
      return hostileValue;
  }
}

/** All required fields, some of the others. */
export function objectOf(schema: JsonSchema, field: (schema: JsonSchema, name: string) => fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, field(inner, name)]));
  return fc.record(fields, { requiredKeys: schema.required ?? [] });
}

function lowest({ minimum, exclusiveMinimum }: JsonSchema): number {
  return minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
}

function textOf({ format, minLength = 0, maxLength = longestChars }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'email') return fc.emailAddress();
  if (format === 'date')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString().slice(0, 10));
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString());
  const most = Math.min(maxLength, Math.max(minLength, longestChars));
  return fc.oneof(
    fc.string({ unit: 'grapheme', minLength, maxLength: most }),
    fc.string({ unit: 'binary', minLength, maxLength: most }),
    fc.constantFrom(minLength, most).map((length) => 'x'.repeat(length)),
  );
}
