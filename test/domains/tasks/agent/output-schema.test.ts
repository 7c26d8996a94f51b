/** Which output schemas are accepted when a task is created. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { schemaProblem } from '../../../../src/domains/tasks/agent/output-schema.ts';

test('an invalid schema and a schema with external references are refused with the reason', () => {
  const wrong: [object, RegExp][] = [
    [{ type: 'nonsense' }, /type that is not one of .*: nonsense/],
    [{ type: ['string', 'string'] }, /type that is not/],
    [{ type: [], properties: 5 }, /properties/],
    [{ properties: { a: { type: 'text' } } }, /type that is not/],
    [{ properties: { a: null } }, /neither an object nor true or false/],
    [{ items: [{ type: 'string' }] }, /neither an object/],
    [{ anyOf: {} }, /anyOf that is not a list/],
    [{ allOf: [] }, /allOf that is not a list/],
    [{ required: 'a' }, /required that is not a list/],
    [{ required: ['a', 'a'] }, /required that is not a list/],
    [{ minLength: -1 }, /minLength/],
    [{ maxItems: '3' }, /maxItems/],
    [{ multipleOf: 0 }, /multipleOf/],
    [{ enum: 'a' }, /enum/],
    [{ pattern: '(' }, /pattern that is not a regular expression/],
    [{ pattern: 5 }, /pattern/],
    [{ patternProperties: { '[': {} } }, /no regular expression/],
    [{ $ref: 'https://example.com/schema.json' }, /reference within the schema/],
    [{ properties: { a: { $ref: 'other.json#/a' } } }, /reference within the schema/],
    [{ $ref: '#/$defs/missing' }, /no part of it/],
    [{ $ref: '#missing' }, /no part of it/],
    [{ $ref: '#' }, /itself without end/],
    [
      { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
      /without end/,
    ],
    [Array.from({ length: 40 }).reduce<object>((inner) => ({ not: inner }), {}), /nested more than 32/],
  ];
  for (const [schema, words] of wrong) assert.match(schemaProblem(schema) ?? 'taken', words, JSON.stringify(schema));
});

test('schemas with every keyword are accepted, also recursive and costly ones', () => {
  const right: object[] = [
    {},
    {
      type: ['object', 'null'],
      properties: { type: { type: 'string' }, $ref: { type: 'string' } },
      required: ['type'],
      additionalProperties: false,
    },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.com/a',
      title: 'A',
      examples: [{ type: 5 }],
      default: { $ref: 5 },
    },
    {
      $ref: '#/$defs/node',
      $defs: {
        node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, 'a/b': { $ref: '#/$defs/node/properties/a~1b/x' } } },
      },
    },
    { properties: { a: { $ref: '#' }, b: { $ref: '#' } }, items: { $ref: '#tail' }, $defs: { t: { $anchor: 'tail', type: 'array' } } },
    { pattern: '^(a+)+$', items: { minItems: 100, items: { minItems: 100 } }, uniqueItems: true },
    JSON.parse(
      '{"if":{"required":["a"]},"then":{"dependentRequired":{"a":["b"]}},"else":true,"dependentSchemas":{"a":{"minProperties":2}}}',
    ),
    {
      prefixItems: [{ const: 1 }, true],
      contains: { enum: [null, 1] },
      minContains: 0,
      unevaluatedItems: false,
      nullable: true,
      custom: { type: 5 },
    },
  ];
  right[3] = JSON.parse(JSON.stringify(right[3]).replace('/properties/a~1b/x', ''));
  for (const schema of right) assert.equal(schemaProblem(schema), null, JSON.stringify(schema));
});
