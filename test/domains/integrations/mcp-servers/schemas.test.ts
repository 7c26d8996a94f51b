/** Checks by schemas that a hostile server wrote: none takes long, and none refuses what the schema allows. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isTooDeep, problemIn } from '../../../../src/domains/integrations/mcp-servers/protocol/schemas.ts';
import type { Json } from '../../../support/json.ts';

/** Fails where one check blocks the thread for long: a hostile one would for minutes. */
function quickly<T>(work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 3_000_000, `${user + system} µs`);
  return result;
}

/** Each definition names the next one twice. */
function doubling(levels: number, keyword: string): Json {
  const $defs: Json = { d0: { type: 'number' } };
  for (let n = 1; n <= levels; n++) $defs[`d${n}`] = { [keyword]: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] };
  return { type: 'object', $defs, properties: { value: { $ref: `#/$defs/d${levels}` } } };
}

const backtracking = '^(a+)+$';
const victim = `${'a'.repeat(40)}!`;

test('a schema whose references double at each level is checked in a moment', () => {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    quickly(() => problemIn(doubling(25, keyword), { value: 'no number' }));
    assert.match(quickly(() => problemIn(doubling(3, keyword), { value: 'no number' })) ?? '', /number/);
  }
});

test('no pattern of a server is run, wherever it stands', () => {
  const text = { type: 'string' };
  for (const schema of [
    { properties: { value: { pattern: backtracking } } },
    { patternProperties: { [backtracking]: text } },
    { patternProperties: { type: text, [backtracking]: text } },
    { patternProperties: { enum: text, anyOf: text, [backtracking]: text } },
    { propertyNames: { pattern: backtracking } },
    { additionalProperties: { format: 'regex', pattern: backtracking } },
    { dependentSchemas: { [victim]: { properties: { value: { pattern: backtracking } } } } },
  ])
    assert.equal(
      quickly(() => problemIn({ type: 'object', ...schema }, { value: victim, [victim]: 'x' })),
      null,
      JSON.stringify(schema),
    );
});

test('a large value with a schema that compares each part with each other is left to the server', () => {
  const many = Array.from({ length: 200_000 }, () => 1);
  quickly(() => problemIn({ type: 'array', uniqueItems: true }, many));
  quickly(() => problemIn({ type: 'array', items: { anyOf: Array.from({ length: 2_000 }, (_, n) => ({ const: `n${n}` })) } }, many));
  quickly(() => problemIn({ type: 'array', items: { enum: Array.from({ length: 5_000 }, (_, n) => `n${n}`) } }, many));
  quickly(() => problemIn({ type: 'array', contains: { const: 2 }, minContains: 2 }, many));
  assert.match(problemIn({ type: 'array', items: { type: 'string' } }, many) ?? '', /string/);
});

test('schemas and values of any depth are taken', () => {
  let schema: Json = { type: 'string' };
  let value: Json = 'x';
  for (let n = 0; n < 50_000; n++) [schema, value] = [{ type: 'object', properties: { a: schema } }, { a: value }];
  assert.equal(problemIn(schema, { a: 1 }), null);
  quickly(() => problemIn({ type: 'object', properties: { a: { type: 'object', additionalProperties: { $ref: '#' } } } }, value));
  assert.deepEqual([isTooDeep(schema), isTooDeep({ a: [1, { b: null }] }), isTooDeep('x')], [true, false, false]);
});

test('what the schema allows is never refused because a part of it is left out', () => {
  const text = { type: 'string' };
  for (const [schema, value] of [
    [
      {
        oneOf: [
          { ...text, format: 'email' },
          { ...text, pattern: '^https:' },
        ],
      },
      'ann@example.com',
    ],
    [{ not: { pattern: '^x' } }, 'abc'],
    [JSON.parse('{"if":{"pattern":"^x"},"then":{"maxLength":1}}'), 'abc'],
    [{ type: 'object', patternProperties: { '^x-': text }, additionalProperties: false }, { 'x-a': 'b' }],
    [{ type: 'object', patternProperties: { '^x-': text }, unevaluatedProperties: false }, { 'x-a': 'b' }],
    [{ type: 'array', contains: { pattern: '^x' }, maxContains: 1 }, ['x', 'y']],
    [{ type: 'array', contains: { const: 1 }, minContains: 0 }, []],
    [{ $ref: '#/$defs/none' }, 1],
    [{ $ref: 'https://schemas.example/other.json' }, 1],
    [{ $ref: '#' }, 1],
  ] as [object, unknown][])
    assert.equal(problemIn(schema, value), null, JSON.stringify(schema));
});

test('references are followed, cycles of them once, and violations of their schemas are reported', () => {
  const tree = {
    $defs: {
      'a/b': { type: 'integer', minimum: 1 },
      node: { type: 'object', properties: { n: { $ref: '#/$defs/a~1b' }, next: { $ref: '#/$defs/node' } } },
    },
    $ref: '#/$defs/node',
    required: ['n'],
  };
  assert.equal(problemIn(tree, { n: 1, next: { n: 2 } }), null);
  assert.match(problemIn(tree, { n: 0 }) ?? '', /^n: /);
  assert.match(problemIn(tree, {}) ?? '', /required|n/);
  assert.match(
    problemIn({ properties: { a: { $ref: '#/$defs/s', maxLength: 2 } }, $defs: { s: { type: 'string' } } }, { a: 'abc' }) ?? '',
    /^a: /,
  );
});
