/**
 * Whether a caller's `output_schema` is a JSON Schema (2020-12) that output can be checked against: checked when the task is created,
 * before it costs anything. Reads each part once and runs none of it: `output.ts` limits the cost of checking output.
 */
const maxSchemaChars = 32_000;
const maxSchemaDepth = 32;

type Schema = Record<string, unknown>;
/** The required form of a keyword's value, as a text; null if the value has it. */
type Rule = (value: unknown) => string | null;

const schemaKeywords = new Set([
  ...['additionalProperties', 'items', 'contains', 'not', 'if', 'then', 'else', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'contentSchema'],
]);
const schemaListKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMapKeywords = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** Applied to the same value as the enclosing schema. */
const inPlaceKeywords: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];
const types = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

const text: Rule = (value) => (typeof value === 'string' ? null : 'a string');
const flag: Rule = (value) => (typeof value === 'boolean' ? null : 'true or false');
const number: Rule = (value) => (typeof value === 'number' ? null : 'a number');
const count: Rule = (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'a whole number from 0');
const names: Rule = (value) => (isListOf(value, (name) => typeof name === 'string') ? null : 'a list of different strings');

const rules: Readonly<Record<string, Rule>> = {
  ...rulesFor(['$schema', '$id', '$anchor', '$dynamicAnchor', '$comment', 'title', 'description', 'format'], text),
  ...rulesFor(['contentEncoding', 'contentMediaType'], text),
  ...rulesFor(['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'], flag),
  ...rulesFor(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], number),
  ...rulesFor(['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains', 'minProperties', 'maxProperties'], count),
  multipleOf: (value) => (typeof value === 'number' && value > 0 ? null : 'a number above 0'),
  required: names,
  dependentRequired: (value) =>
    isRecord(value) && Object.values(value).every((list) => names(list) === null) ? null : 'an object of lists of strings',
  enum: (value) => (Array.isArray(value) && value.length > 0 ? null : 'a list'),
  examples: (value) => (Array.isArray(value) ? null : 'a list'),
  type: (value) => (isType(value) || isListOf(value, isType) ? null : `one of ${[...types].join(', ')}, or a list of them`),
  pattern: (value) => (typeof value === 'string' && isPattern(value) ? null : 'a regular expression'),
  $ref: localReference,
  $dynamicRef: localReference,
};

/** The error in a caller's schema, as a text to append to its name; null if output can be checked against it. */
export function schemaProblem(schema: object): string | null {
  if (JSON.stringify(schema).length > maxSchemaChars) return `is longer than ${maxSchemaChars} characters`;
  const anchors = new Map<string, unknown>();
  const references: { from: Schema; target: string }[] = [];
  const problem = partProblem(schema, 0, anchors, references);
  if (problem !== null) return problem;
  const targets = new Map<Schema, unknown[]>();
  for (const { from, target } of references) {
    const found = anchors.get(target.slice(1)) ?? pointedTo(schema, target);
    if (!isSchema(found)) return `refers to ${shown(target)}, which is no part of it`;
    targets.set(from, [...(targets.get(from) ?? []), found]);
  }
  return endless(schema, targets) ? 'refers to itself without end' : null;
}

function partProblem(
  part: unknown,
  depth: number,
  anchors: Map<string, unknown>,
  references: { from: Schema; target: string }[],
): string | null {
  if (typeof part === 'boolean') return null;
  if (!isRecord(part)) return 'has a part that is neither an object nor true or false where a schema belongs';
  if (depth > maxSchemaDepth) return `is nested more than ${maxSchemaDepth} deep`;
  for (const [keyword, value] of Object.entries(part)) {
    const expected = Object.hasOwn(rules, keyword) ? rules[keyword]!(value) : null;
    if (expected !== null) return `has a ${shown(keyword)} that is not ${expected}: ${shown(value)}`;
    if (keyword === '$ref' || keyword === '$dynamicRef') references.push({ from: part, target: value as string });
    if (keyword === '$anchor' || keyword === '$dynamicAnchor') anchors.set(value as string, part);
    const parts = partsOf(keyword, value);
    if (typeof parts === 'string') return parts;
    for (const inner of parts) {
      const problem = partProblem(inner, depth + 1, anchors, references);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** The schemas within a keyword's value, or the error in it. */
function partsOf(keyword: string, value: unknown): unknown[] | string {
  if (schemaKeywords.has(keyword)) return [value];
  if (schemaListKeywords.has(keyword))
    return Array.isArray(value) && value.length > 0 ? value : `has a ${keyword} that is not a list of schemas`;
  if (!schemaMapKeywords.has(keyword)) return [];
  if (!isRecord(value)) return `has a ${keyword} that is not an object of schemas`;
  const bad = keyword === 'patternProperties' ? Object.keys(value).find((pattern) => !isPattern(pattern)) : undefined;
  return bad === undefined ? Object.values(value) : `has a pattern that is no regular expression: ${shown(bad)}`;
}

/** Whether a part refers to itself without descending into the value: then no check against it would end. */
function endless(root: Schema | object, targets: ReadonlyMap<Schema, unknown[]>): boolean {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const leadsBack = (part: unknown): boolean => {
    if (!isRecord(part) || done.has(part)) return false;
    if (open.has(part)) return true;
    open.add(part);
    const next = [...(targets.get(part) ?? []), ...inPlaceKeywords.flatMap((keyword) => partsOf(keyword, part[keyword]))];
    const found = next.some(leadsBack);
    open.delete(part);
    done.add(part);
    return found;
  };
  return [root, ...targets.keys()].some(leadsBack);
}

function pointedTo(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Schema)[name];
  }
  return found;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function localReference(value: unknown): string | null {
  return typeof value === 'string' && value.startsWith('#') ? null : 'a reference within the schema (#…)';
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

function isListOf(value: unknown, fits: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits) && new Set(value).size === value.length;
}

function isType(value: unknown): boolean {
  return typeof value === 'string' && types.has(value);
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isRecord(value);
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rulesFor(keywords: string[], rule: Rule): Record<string, Rule> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, rule]));
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}
