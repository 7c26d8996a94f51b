/** Malformed requests: each is refused with the invalid field and the reason. */
import assert from 'node:assert/strict';
import type { JsonSchema, Operation } from '../support/described-api.ts';
import { form, goodBody, goodContent, goodHeaders, json, pathOf, type Site } from '../support/described-service.ts';
import { latin1 } from '../support/hostile-values.ts';
import type { Answer } from '../support/http-client.ts';
import { expect } from './expect.ts';

export async function refuseBrokenBodies(site: Site): Promise<void> {
  const deep = [`${'['.repeat(100)}${']'.repeat(100)}`, '['.repeat(200_000)];
  const malformed = ['{', '{"a": NaN}', ' ', 'nonsense', '{}{}', Buffer.from('{"a":"\xff"}', 'latin1'), ...deep];
  const types = [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', ...Object.values(form)];
  const long = JSON.stringify({ filler: 'x'.repeat(2 ** 20) });
  for (const operation of withBody(site)) {
    const send = (body: string | Uint8Array, headers: Record<string, string> = json, chunked = false) =>
      site.send(operation, { path: `/v1${pathOf(operation, site.own)}`, headers, body, chunked });
    for (const body of malformed) expect(await send(body), 400, operation, String(body).slice(0, 30));
    for (const type of types) expect(await send('{}', type === undefined ? {} : { 'content-type': type }), 415, operation, String(type));
    for (const body of ['[]', '"text"', 'null']) {
      const answer = await send(body);
      expect(answer, 422, operation, body);
      assert.deepEqual(answer.json.detail[0].loc, ['body'], answer.text);
    }
    expect(await send(long), 413, operation, 'a long body');
    expect(await send(long, { ...json, 'transfer-encoding': 'chunked' }, true), 413, operation, 'a long body in chunks');
    expect(await send('{"a":"\\ud800","b":"\\u0000"}'), 422, operation, 'half a surrogate pair');
  }
}

export async function refuseWrongFields(site: Site): Promise<void> {
  for (const operation of withBody(site)) {
    const whole = goodBody(site, operation, site.own) as Record<string, unknown>;
    const refused = async (body: unknown, loc: (string | number)[], type: string | RegExp): Promise<void> => {
      const sent = { path: `/v1${pathOf(operation, site.own)}`, headers: json, body: JSON.stringify(body) };
      const answer = await site.send(operation, sent);
      expect(answer, 422, operation, sent.body.slice(0, 200));
      assert.ok(names(answer, ['body', ...loc], type), `${operation.name} ${sent.body.slice(0, 200)}: ${type} ${loc}: ${answer.text}`);
    };
    const { required = [], properties = {} } = operation.body as JsonSchema;
    for (const field of required) {
      const { [field]: _, ...rest } = whole;
      await refused(rest, [field], 'missing');
    }
    for (const [field, schema] of Object.entries(properties)) {
      for (const [value, type] of wrong(schema)) {
        if (site.api.problemOf(schema, value) !== null) await refused({ ...whole, [field]: value }, [field], type);
      }
    }
  }
}

/** Values that a schema refuses, each with the type of its issue. */
function wrong({
  type,
  minLength,
  maxLength,
  minimum,
  maximum,
  exclusiveMinimum,
  anyOf,
  ...rest
}: JsonSchema): [unknown, string | RegExp][] {
  const choice = rest.enum !== undefined || anyOf !== undefined;
  const one = (expected: string): string | RegExp => (choice ? /^(enum|\w+_type)$/ : expected);
  const values: [unknown, string | RegExp][] = [];
  switch (type) {
    case 'string':
      values.push([1, one('string_type')], [null, one('string_type')], [[], one('string_type')]);
      if (minLength !== undefined) values.push(['', 'string_too_short']);
      if (maxLength !== undefined) values.push(['x'.repeat(maxLength + 1), rest.format === undefined ? 'string_too_long' : /./]);
      break;
    case 'integer':
      values.push(['1', 'int_type'], [null, 'int_type'], [1.5, 'int_from_float']);
      break;
    case 'number':
      values.push(['1', 'float_type'], [{}, 'float_type']);
      break;
    case 'boolean':
      values.push(['true', 'bool_type'], [0, 'bool_type']);
      break;
    case 'array':
      values.push([{}, 'list_type'], ['x', 'list_type']);
      break;
    case 'object':
      values.push([[], 'dict_type'], ['x', 'dict_type']);
      break;
    default:
      values.push([{ no: 'such' }, /./], ['nonsense', /./], [-7, /./]);
  }
  if (minimum !== undefined) values.push([minimum - 1, 'greater_than_equal']);
  if (exclusiveMinimum !== undefined) values.push([exclusiveMinimum, 'greater_than']);
  if (maximum !== undefined) values.push([maximum + 1, 'less_than_equal']);
  return values;
}

function names(answer: Answer, loc: (string | number)[], type: string | RegExp): boolean {
  const fits = (found: string) => (typeof type === 'string' ? found === type : type.test(found));
  return answer.json.detail.some(
    (issue: { loc: unknown[]; type: string }) => loc.every((part, i) => issue.loc[i] === part) && fits(issue.type),
  );
}

export async function refuseWrongQueries(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    const path = `/v1${pathOf(operation, site.own)}`;
    for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
      const values = wrongTexts(schema);
      if (schema.minimum !== undefined) values.push([String(schema.minimum - 1), 'greater_than_equal']);
      if (schema.maximum !== undefined) values.push([String(schema.maximum + 1), 'less_than_equal']);
      // A filter may take any text.
      const isRefused = (value: string) => schema.pattern === undefined || site.api.problemOf(schema, value) !== null;
      for (const [value, type] of values) {
        if (!isRefused(value)) continue;
        const answer = await site.send(operation, { path: `${path}?${name}=${value}` });
        expect(answer, 422, operation, `${name}=${value}`);
        assert.ok(names(answer, ['query', name], type), answer.text);
      }
      if (isRefused('x'))
        expect(await site.send(operation, { path: `${path}?${name}=1&${name}=x` }), 422, operation, 'the last of two counts');
    }
    // What only redirects has no answer without its query.
    if (operation.method !== 'GET' || operation.scope === null || operation.responses[200] === undefined) continue;
    for (const query of ['unknown=1', '%', '=&&=', `a=${'b'.repeat(8_000)}`]) {
      expect(await site.send(operation, { path: `${path}?${query}` }), 200, operation, query.slice(0, 40));
    }
  }
}

/** Texts that a query's schema refuses by their form, each with the type of its issue. */
function wrongTexts({ type, pattern, format }: JsonSchema): [string, string | RegExp][] {
  const all = (values: string[], issue: string): [string, string][] => values.map((value) => [value, issue]);
  if (type === 'integer') return all(['abc', '', '1.5', '0x10', '9'.repeat(30), '%EF%BC%91', 'null'], 'int_parsing');
  if (type === 'boolean') return all(['nonsense', '', '1', 'TRUE'], 'bool_parsing');
  if (pattern !== undefined) return all(['nonsense', ''], 'string_pattern_mismatch');
  return [...all(['nonsense', ''], format === undefined ? 'enum' : 'value_error'), ['%00', 'value_error']];
}

export async function refuseBrokenHeaders(site: Site): Promise<void> {
  for (const operation of site.api.operations.filter(({ isIdempotent }) => isIdempotent)) {
    for (const key of ['x'.repeat(256), 'a\tb', 'é', '', '""']) {
      const headers = { ...goodHeaders(operation), 'idempotency-key': latin1(key) };
      const answer = await site.send(operation, { path: `/v1${pathOf(operation, site.own)}`, headers, body: goodContent(site, operation) });
      expect(answer, 422, operation, `Idempotency-Key ${key.slice(0, 20)}`);
      assert.deepEqual(answer.json.detail[0].loc, ['header', 'Idempotency-Key']);
    }
  }
  const me = { method: 'GET', path: '/v1/auth/me' };
  const given: [string, boolean][] = [
    ['my-id_1', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['a b', false],
    ['<script>', false],
  ];
  for (const [id, kept] of given) {
    const answer = await site.client.send({ ...me, headers: { 'x-request-id': id } });
    assert.equal(answer.headers['x-request-id'] === id, kept, id);
  }
}

function withBody(site: Site): Operation[] {
  return site.api.operations.filter(({ body }) => body !== null && body !== 'multipart');
}
