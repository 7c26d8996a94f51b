import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Type, { type TSchema } from 'typebox';
import { AnyName, compileBody, compileText, Money } from '../../../src/edge/http/validate.ts';
import type { Issue } from '../../../src/errors.ts';

function body(schema: TSchema, value: unknown): { value: unknown; issues: Issue[] } {
  const issues: Issue[] = [];
  return { value: compileBody(schema)(value, issues), issues };
}
const found = (schema: TSchema, value: unknown): unknown[] => body(schema, value).issues.map(({ loc, type }) => [loc.join('.'), type]);

const Sample = Type.Object({
  prompt: Type.String({ minLength: 1, maxLength: 5, pattern: '^[a-z]*$' }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 3 })),
  ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
  flag: Type.Optional(Type.Boolean()),
  kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')])),
  note: Type.Optional(Type.Union([Type.String({ minLength: 2 }), Type.Null()])),
  list: Type.Optional(Type.Array(Type.Object({ x: Type.Integer() }), { maxItems: 2, minItems: 1 })),
  config: Type.Optional(Type.Object({ deep: Type.Optional(Type.Object({ password: Type.String({ minLength: 10 }) })) })),
  free: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

test('each validation error has its Pydantic type and location', () => {
  const cases: [unknown, unknown[]][] = [
    [{}, [['body.prompt', 'missing']]],
    [{ prompt: '' }, [['body.prompt', 'string_too_short']]],
    [{ prompt: 'abcdef' }, [['body.prompt', 'string_too_long']]],
    [{ prompt: 'ABC' }, [['body.prompt', 'string_pattern_mismatch']]],
    [{ prompt: 1 }, [['body.prompt', 'string_type']]],
    [{ prompt: 'a', count: '3' }, [['body.count', 'int_type']]],
    [{ prompt: 'a', count: 1.5 }, [['body.count', 'int_from_float']]],
    [{ prompt: 'a', count: 0 }, [['body.count', 'greater_than_equal']]],
    [{ prompt: 'a', count: 21 }, [['body.count', 'less_than_equal']]],
    [{ prompt: 'a', ratio: 0 }, [['body.ratio', 'greater_than']]],
    [{ prompt: 'a', ratio: 1 }, [['body.ratio', 'less_than']]],
    [{ prompt: 'a', ratio: 'x' }, [['body.ratio', 'float_type']]],
    [{ prompt: 'a', flag: 'true' }, [['body.flag', 'bool_type']]],
    [{ prompt: 'a', kind: 'd' }, [['body.kind', 'enum']]],
    [{ prompt: 'a', kind: 7 }, [['body.kind', 'enum']]],
    [{ prompt: 'a', note: 'x' }, [['body.note', 'string_too_short']]],
    [{ prompt: 'a', note: 5 }, [['body.note', 'string_type']]],
    [{ prompt: 'a', list: {} }, [['body.list', 'list_type']]],
    [{ prompt: 'a', list: [] }, [['body.list', 'too_short']]],
    [
      { prompt: 'a', list: [{ x: 1 }, { x: 'y' }, {}] },
      [
        ['body.list', 'too_long'],
        ['body.list.1.x', 'int_type'],
        ['body.list.2.x', 'missing'],
      ],
    ],
    [{ prompt: 'a', config: [] }, [['body.config', 'dict_type']]],
    [{ prompt: 'a', free: 'x' }, [['body.free', 'dict_type']]],
    [null, [['body', 'dict_type']]],
    ['text', [['body', 'dict_type']]],
    [undefined, [['body', 'missing']]],
  ];
  for (const [value, expected] of cases) {
    assert.deepEqual(new Set(found(Sample, value).map(String)), new Set(expected.map(String)), JSON.stringify(value));
  }
});

test('all errors are reported at once, at most twenty', () => {
  assert.equal(found(Sample, { prompt: 1, count: 0, flag: 3, kind: 'x', note: 5 }).length, 5);
  assert.equal(found(Type.Array(Type.Integer()), Array(500).fill('x')).length, 20);
});

test('an enum error lists the allowed values', () => {
  const [issue] = body(Sample, { prompt: 'a', kind: 'd' }).issues;
  assert.deepEqual(issue, {
    loc: ['body', 'kind'],
    msg: "Input should be 'a', 'b' or 'c'",
    type: 'enum',
    input: 'd',
    ctx: { expected: "'a', 'b' or 'c'" },
  });
});

test('errors contain no secrets, no long values and no containers', () => {
  const [secret] = body(Sample, { prompt: 'a', config: { deep: { password: 'hunter2' } } }).issues;
  assert.deepEqual([secret!.type, secret!.input], ['string_too_short', null]);
  assert.ok(!JSON.stringify(body(Sample, { password: 'hunter2' }).issues).includes('hunter2'));
  assert.ok(JSON.stringify(body(Sample, { prompt: 'x'.repeat(1_000_000) }).issues).length < 1000);
  assert.deepEqual(body(Sample, { prompt: { token: 'hunter2' } }).issues[0]!.input, {});
});

test('defaults are added, unknown fields are removed, free objects are kept', () => {
  const { value, issues } = body(
    Sample,
    JSON.parse('{"prompt":"a","zz":1,"__proto__":{"x":1},"constructor":2,"free":{"q":{"z":[1]}},"config":{"no":1}}'),
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(value, { prompt: 'a', count: 3, free: { q: { z: [1] } }, config: {} });
  assert.equal(({} as { x?: number }).x, undefined);
});

test('a value is checked whatever the name is that the client chose', () => {
  const Chosen = Type.Object({ headers: Type.Record(AnyName, Type.String({ maxLength: 3 })) });
  for (const name of ['a', 'a\n', '\r\n', ' ', '']) {
    assert.deepEqual(body(Chosen, { headers: { [name]: 'abc' } }).value, { headers: { [name]: 'abc' } });
    assert.equal(body(Chosen, { headers: { [name]: 'abcd' } }).issues.length, 1);
  }
});

test('a missing body is valid if none of its fields is required', () => {
  assert.deepEqual(body(Type.Object({ reason: Type.Optional(Type.String()) }), undefined), { value: {}, issues: [] });
});

test('any input results in a valid value or at least one issue', () => {
  const check = compileBody(Sample);
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ prompt: fc.jsonValue(), list: fc.jsonValue(), note: fc.jsonValue(), kind: fc.jsonValue() })),
      (value) => {
        const issues: Issue[] = [];
        const checked = check(value, issues);
        if (issues.length === 0) assert.equal(typeof (checked as { prompt: unknown }).prompt, 'string');
        for (const issue of issues) assert.equal(issue.loc[0], 'body');
        assert.ok(issues.length <= 20);
      },
    ),
    { numRuns: 500 },
  );
});

test('amounts with two decimals are valid, amounts with three are not', () => {
  const fits = (value: unknown): boolean => body(Money(), value).issues.length === 0;
  fc.assert(fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (cents) => fits(cents / 100)));
  for (const bad of [0.001, 1.005, 1e-7, 9.999, 0.1 + 0.2, -1, 1e300, '1.00', Number.NaN, null])
    assert.equal(fits(bad), false, String(bad));
  assert.deepEqual(found(Type.Object({ amount: Money({ minimum: 1 }) }), { amount: 1.234 }), [['body.amount', 'value_error']]);
  assert.deepEqual(JSON.parse(JSON.stringify(Money({ minimum: 1 }))).minimum, 1);
});

const Query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  ratio: Type.Optional(Type.Number()),
  all: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Union([Type.Literal('running'), Type.Literal('failed')])),
  tag: Type.Optional(Type.Array(Type.String())),
  after: Type.String(),
});
function query(text: string): { value: unknown; found: string[] } {
  const issues: Issue[] = [];
  const texts = new URLSearchParams(text);
  const value = compileText('query', Query)((name) => texts.getAll(name), issues);
  return { value, found: issues.map((issue) => `${issue.loc.join('.')} ${issue.type}`) };
}

test('query texts are converted to numbers and booleans strictly', () => {
  assert.deepEqual(query('limit=5&ratio=-1.5&all=true&status=failed&tag=a&tag=b&after=7&other=x').value, {
    limit: 5,
    ratio: -1.5,
    all: true,
    status: 'failed',
    tag: ['a', 'b'],
    after: '7',
  });
  assert.deepEqual(query('after=x').value, { limit: 20, after: 'x' });
  for (const bad of ['abc', '', '1.0', '1e3', '0x10', ' 5', '+5', '99999999999999999999', '٣', '5,']) {
    assert.deepEqual(query(`after=x&limit=${encodeURIComponent(bad)}`).found, ['query.limit int_parsing'], bad);
  }
  assert.deepEqual(query('after=x&limit=0').found, ['query.limit greater_than_equal']);
  assert.deepEqual(query('after=x&limit=101').found, ['query.limit less_than_equal']);
  assert.deepEqual(query('after=x&all=1').found, ['query.all bool_parsing']);
  assert.deepEqual(query('after=x&ratio=Infinity').found, ['query.ratio float_parsing']);
  assert.deepEqual(query('after=x&status=x').found, ['query.status enum']);
  assert.deepEqual(query('').found, ['query.after missing']);
  assert.deepEqual(query('after=%00').found, ['query.after value_error']);
  assert.deepEqual(query('limit=x').found.sort(), ['query.after missing', 'query.limit int_parsing']);
});

test('a far too long list or text is refused by its length alone, at any depth', () => {
  const texts = (count: number) => Array.from({ length: count }, () => '');
  const Keys = Type.Object({
    scopes: Type.Array(Type.Enum(['a', 'b']), { maxItems: 3 }),
    either: Type.Optional(Type.Union([Type.Array(Type.String(), { maxItems: 1 }), Type.String({ maxLength: 3 }), Type.Null()])),
    inner: Type.Optional(Type.Array(Type.Object({ name: Type.String({ maxLength: 3, pattern: '^(a|b)$' }) }), { maxItems: 2 })),
  });
  assert.deepEqual(found(Keys, { scopes: texts(19_000) }), [['body.scopes', 'too_long']]);
  assert.deepEqual(found(Keys, { scopes: texts(4), either: texts(500) }), [['body.either', 'too_long']]);
  assert.deepEqual(found(Keys, { scopes: ['a'], either: 'x'.repeat(20_000) }), [['body.either', 'string_too_long']]);
  assert.deepEqual(found(Keys, { scopes: [], inner: [{ name: 'x' }, { name: 'x'.repeat(20_000) }] }), [
    ['body.inner.1.name', 'string_too_long'],
  ]);
  assert.deepEqual(found(Keys, { scopes: [], either: null, inner: [] }), []);
});
