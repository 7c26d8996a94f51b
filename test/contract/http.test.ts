/**
 * The real service compared with its OpenAPI description: each endpoint with valid requests, without a token, without the scope, for
 * objects of other accounts, with malformed input, and with wrong methods. A new endpoint is covered automatically; if its documented
 * example is not sufficient, it needs a function in `test/support/described-service.ts` or a flow in `good-requests.ts`, and its scope a
 * line in `scopes.ts`.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Operation } from '../support/described-api.ts';
import { leftBehind, openSite, type Site } from '../support/described-service.ts';
import { refuseForeignIds, refuseInvalidTokens, refuseMissingScopes, refuseOtherMethods, refuseUnknownPaths } from './callers.ts';
import { answerDeleters, answerPeople, answerReaders, answerWriters } from './good-requests.ts';
import { holdAccountsSlots } from './ids.ts';
import { refuseBrokenBodies, refuseBrokenHeaders, refuseWrongFields, refuseWrongQueries } from './malformed.ts';
import { publicOperations, scopeByContract } from './scopes.ts';

test('every endpoint behaves as described', { timeout: 480_000 }, async (t) => {
  const site = await openSite(t);
  await t.test('the description is valid, and its examples match its schemas', () => checkDescription(site));
  await t.test('each endpoint has the scope of the contract, and only the listed ones are public', () => checkScopes(site));

  await t.test('a key with every scope but the required one is 403, before any other check', () => refuseMissingScopes(site));
  const before = await leftBehind(site.service);
  await t.test('a request without a valid token is 401', () => refuseInvalidTokens(site));
  await t.test('another method is 405 and lists the allowed ones', () => refuseOtherMethods(site));
  await t.test('an unknown path is 404', () => refuseUnknownPaths(site));
  await t.test('a body that is not JSON, or not sent as JSON, or too long, is refused', () => refuseBrokenBodies(site));
  await t.test('a missing or invalid field is 422 and named', () => refuseWrongFields(site));
  await t.test('an invalid query value is 422 and named', () => refuseWrongQueries(site));
  await t.test('a malformed header is 422 and named', () => refuseBrokenHeaders(site));
  await t.test('unknown objects and those of other accounts are 404, in path and body', () => refuseForeignIds(site));
  assert.deepEqual(await leftBehind(site.service), before, 'refused requests leave no row and no file');

  await t.test('reads are answered, with 304 if nothing has changed', () => answerReaders(site));
  await t.test('a documented example succeeds and has its effect once', () => answerWriters(site));
  await t.test("every id of an account's objects ends with the slot of the account", () => holdAccountsSlots(site));
  await t.test('users register, sign in and sign out', () => answerPeople(site));
  await t.test('deleted objects are 404', () => answerDeleters(site));

  const unseen = site.api.operations.filter((operation) => ![...site.api.seen].some((seen) => isGood(seen, operation)));
  assert.deepEqual(
    unseen.map(({ name }) => name),
    [],
    'every operation was seen to succeed',
  );
  assert.doesNotMatch(
    site.service.output(),
    /unhandled promise rejection|unexpectedly|\n\s+at /,
    'the log holds no unhandled rejection and no stack',
  );
  t.diagnostic(`${site.sent} requests to ${site.api.operations.length} operations`);
});

async function checkDescription({ api }: Site): Promise<void> {
  const { valid, errors } = await new Validator().validate(structuredClone(api.document));
  assert.ok(valid, JSON.stringify(errors));
  for (const { name, scope, responses, parameters, body, example } of api.operations) {
    const fits = (schema: object | undefined, value: unknown, where: string) =>
      schema && assert.equal(api.problemOf(schema, value), null, `the example of ${name}, ${where}: ${JSON.stringify(value)}`);
    if (body !== null && body !== 'multipart') fits(body, example, 'body');
    for (const parameter of parameters) if ('example' in parameter) fits(parameter.schema, parameter.example, parameter.name);
    for (const [status, { content, headers }] of Object.entries(responses)) {
      const json = content?.['application/json'];
      fits(json?.schema, json?.example, status);
      assert.ok('X-Request-Id' in headers && 'X-RateLimit-Limit' in headers, `${name} ${status}`);
    }
    for (const status of [401, 403]) assert.ok(responses[status] !== undefined || scope === null, `${name} ${status}`);
    for (const status of [429, 500, 503]) assert.ok(responses[status], `${name} ${status}`);
  }
  for (const operation of [...operationsOf(api.document.paths), ...operationsOf(api.document.webhooks)]) {
    for (const text of [operation.operationId, operation.summary, operation.description, operation.tags[0]]) assert.ok(text.length > 3);
    const about = api.document.tags.find(({ name }: { name: string }) => name === operation.tags[0]);
    assert.ok(about?.description, `chapter ${operation.tags[0]} says what it is about`);
  }
}

function checkScopes({ api }: Site): void {
  for (const operation of api.operations) {
    const expected = scopeByContract(operation);
    assert.notEqual(expected, undefined, `the contract's table says nothing of ${operation.name}`);
    assert.equal(operation.scope, expected, operation.name);
  }
  const open = api.operations.filter(({ scope }) => scope === null).map(({ name }) => name);
  assert.deepEqual(open.toSorted(), publicOperations.toSorted(), 'the list of what is open is whole');
}

function isGood(seen: string, { name }: Operation): boolean {
  return seen.startsWith(`${name} `) && /^(2\d\d|30[238])$/.test(seen.slice(name.length + 1));
}

function operationsOf(paths: Record<string, Record<string, any>>): any[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}
