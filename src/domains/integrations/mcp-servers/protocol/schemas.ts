/**
 * Checks values against schemas of other servers. Such a schema can be expensive: a pattern can take minutes, and a chain of twenty references, each used
 * twice, takes a million steps. So a plain schema of bounded size and without patterns is made of it. The plain schema is never stricter than the
 * given one; what it leaves out is checked only by the server.
 */
import Schema from 'typebox/schema';

const maxSchemaDepth = 32;
const maxSchemaChars = 64_000;
/** Of the plain schema, with what references stand for. */
const maxParts = 4_000;
/** Each part of a schema may be compared with each value. */
const maxSteps = 2_000_000;
const maxShown = 5;
/** Deeper values cannot be written as JSON. */
const maxValueDepth = 200;

type Fields = Record<string, unknown>;

/** The errors of a value, as one text; null: it satisfies the schema, or the schema cannot be followed. */
export function problemIn(schema: object, value: unknown): string | null {
  if (isTooDeep(schema) || JSON.stringify(schema).length > maxSchemaChars) return null;
  const plain = new PlainSchema(schema as Fields);
  const checked = plain.of(schema, 0, []);
  if (plain.parts * (1 + countOf(value, maxSteps)) > maxSteps) return null;
  try {
    if (Schema.Check(checked as object, value)) return null;
    const [, errors] = Schema.Errors(checked as object, value);
    return errors
      .slice(0, maxShown)
      .map((error) => `${error.instancePath.slice(1).replaceAll('/', '.') || 'the value'}: ${error.message}`)
      .join('; ')
      .slice(0, 1_000);
  } catch {
    // A keyword has a value of a wrong kind: the server checks alone.
    return null;
  }
}

/** Whether a value is nested so deeply that the recursive functions that read it would overflow the stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxValueDepth) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** Keywords whose values are compared as they are. */
const plainKeywords = new Set([
  ...['type', 'enum', 'const', 'required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);
/** Keywords that hold a schema, those that hold a list of schemas, and one that holds schemas by name. */
const schemaKeywords = new Set(['items', 'additionalProperties', 'propertyNames']);
const listKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

class PlainSchema {
  parts = 0;
  private readonly root: Fields;

  constructor(root: Fields) {
    this.root = root;
  }

  /** @param refs references that led here: a circular one is followed once */
  of(schema: unknown, depth: number, refs: readonly string[]): unknown {
    if (typeof schema === 'boolean') return schema;
    if (!isFields(schema) || depth > maxSchemaDepth || ++this.parts > maxParts) return true;
    const made: Fields = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (plainKeywords.has(keyword)) {
        this.parts += countOf(value, maxParts);
        made[keyword] = value;
      } else if (schemaKeywords.has(keyword)) made[keyword] = Array.isArray(value) ? true : this.of(value, depth + 1, refs);
      else if (listKeywords.has(keyword) && Array.isArray(value)) {
        const list = value.map((one) => this.of(one, depth + 1, refs));
        // Several may fit where a pattern that distinguishes them was left out.
        made[keyword === 'oneOf' ? 'anyOf' : keyword] = keyword === 'oneOf' && made.anyOf !== undefined ? made.anyOf : list;
      } else if (keyword === 'properties' && isFields(value))
        made.properties = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.of(one, depth + 1, refs)]));
    }
    // A name that only a pattern allows would count as an extra property.
    if (schema.patternProperties !== undefined) delete made.additionalProperties;
    const { $ref: ref } = schema;
    const target = typeof ref === 'string' && !refs.includes(ref) ? this.target(ref) : undefined;
    if (target === undefined) return made;
    const named = this.of(target, depth + 1, [...refs, String(ref)]);
    return Object.keys(made).length === 0 ? named : { allOf: [made, named] };
  }

  /** undefined: it is not in this schema. */
  private target(ref: string): unknown {
    if (ref !== '#' && !ref.startsWith('#/')) return undefined;
    let at: unknown = this.root;
    for (const name of ref.split('/').slice(1)) {
      const key = decoded(name);
      if (typeof at !== 'object' || at === null || key === undefined || !Object.hasOwn(at, key)) return undefined;
      at = (at as Fields)[key];
    }
    return at;
  }
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

/** A value and all values in it, in no particular order. */
export function* partsIn(root: unknown): Generator<unknown> {
  const remaining = [root];
  while (remaining.length > 0) {
    const part = remaining.pop();
    yield part;
    if (typeof part === 'object' && part !== null) for (const inner of Object.values(part)) remaining.push(inner);
  }
}

/** The number of parts, counted up to `max`. */
function countOf(value: unknown, max: number): number {
  let count = 0;
  for (const _part of partsIn(value)) if (++count >= max) break;
  return count;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
