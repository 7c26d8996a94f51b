/** Permissions: no unknown caller, no key without the scope, no access to objects of other accounts, no other method or path. */
import assert from 'node:assert/strict';
import type { Operation } from '../support/described-api.ts';
import {
  call,
  goodBody,
  goodContent,
  goodHeaders,
  goodPath,
  type Ids,
  json,
  keyOf,
  parametersIn,
  pathOf,
  referencesIn,
  type Site,
} from '../support/described-service.ts';
import { bentTokens, latin1 } from '../support/hostile-values.ts';
import { expect } from './expect.ts';

export const prefixes = ['/v1', ''];
const unknownIds: Ids = new Proxy({}, { get: (_, key) => `${String(key).length}_${'0'.repeat(26)}` });

export async function refuseInvalidTokens(site: Site): Promise<void> {
  const tokens = bentTokens(site.ann.token);
  let turn = 0;
  for (const operation of guarded(site)) {
    for (const prefix of prefixes) {
      for (const authorization of ['', tokens[turn++ % tokens.length]!]) {
        const headers = { ...goodHeaders(operation), ...(authorization === '' ? {} : { authorization: latin1(authorization) }) };
        const sent = { path: prefix + pathOf(operation, site.own), headers, body: goodContent(site, operation) };
        expect(await site.send(operation, sent, null), 401, operation, authorization.slice(0, 40) || 'no token');
      }
    }
  }
}

/** With every scope but the needed one. */
export async function refuseMissingScopes(site: Site): Promise<void> {
  const keys = new Map<string, string>();
  const scopes: string[] = (site.api.find('POST', '/api-keys').body as any).properties.scopes.items.enum;
  const keyWithout = async (scope: string): Promise<string> => {
    const held = scopes.filter((other) => other !== scope);
    if (!keys.has(scope)) keys.set(scope, (await call(site, site.ann, 'POST', '/v1/api-keys', { name: 'almost', scopes: held })).json.key);
    return keys.get(scope)!;
  };
  for (const operation of guarded(site)) {
    if (operation.scope === 'any') continue;
    const key = await keyWithout(operation.scope!);
    // Before the body is read, and before any look-up.
    for (const ids of [site.own, unknownIds]) {
      const broken = operation.body === null ? {} : { headers: { 'content-type': 'text/plain' }, body: 'no' };
      const answer = await site.send(operation, { path: `/v1${pathOf(operation, ids)}`, ...broken }, key);
      expect(answer, 403, operation, 'a key with every other scope');
      assert.match(answer.json.detail, operation.scope === 'session' ? /session/ : new RegExp(operation.scope!.replace('.', '\\.')));
    }
  }
}

export async function refuseOtherMethods(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    const allowed = site.api.methodsOf(operation.path);
    const path = pathOf(operation, site.own);
    const allow = [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (allowed.includes(method)) continue;
      for (const prefix of prefixes) {
        const answer = await site.client.send({ method, path: prefix + path });
        assert.equal(answer.status, method === 'OPTIONS' ? 204 : 405, `${method} ${path}: ${answer.text}`);
        assert.deepEqual(String(answer.headers.allow).split(', ').sort(), allow, `${method} ${path}`);
        assert.ok(answer.headers['x-request-id']);
        if (method !== 'OPTIONS') assert.deepEqual(answer.json, { detail: 'Method Not Allowed' });
      }
    }
  }
}

export async function refuseForeignIds(site: Site): Promise<void> {
  for (const operation of site.api.operations) {
    const gone = async (what: string, ids: Ids, body = goodContent(site, operation)): Promise<void> => {
      for (const prefix of prefixes) {
        const answer = await site.send(operation, { path: prefix + goodPath(operation, ids), headers: goodHeaders(operation), body });
        expect(answer, 404, operation, what);
      }
    };
    const parameters = parametersIn(operation.path);
    if (parameters.length > 0) {
      // Public addresses may be used by everyone, and symbols belong to no account.
      const isOfAccounts = parameters.some((name) => site.own[keyOf(operation.path, name)] !== site.foreign[keyOf(operation.path, name)]);
      if (operation.scope !== null && isOfAccounts) await gone("another account's", site.foreign);
      await gone('an unknown one', unknownIds);
    }
    for (const name of parameters.length > 1 && operation.scope !== null ? parameters : []) {
      const key = keyOf(operation.path, name);
      await gone(`another account's ${name} among one's own`, { ...site.own, [key]: site.foreign[key]! });
    }
    if (operation.body === null || operation.body === 'multipart') continue;
    const body = goodBody(site, operation, site.own) as Record<string, unknown>;
    for (const [field, key] of referencesIn(body, site.own)) {
      await gone(`another account's ${field}`, site.own, JSON.stringify({ ...body, [field]: site.foreign[key] }));
      await gone(`an unknown ${field}`, site.own, JSON.stringify({ ...body, [field]: unknownIds[key] }));
    }
  }
}

export async function refuseUnknownPaths(site: Site): Promise<void> {
  const odd = ['//', '/v1', '/v1//', '/v2/tasks', '/v1/v1/tasks', '/V1/tasks', '/v1/%74asks', `/${'a/'.repeat(4_000)}`, '/.env', '/%00'];
  // Every path below a preview is one of its files.
  const exact = site.api.operations.filter(({ path }) => !path.startsWith('/preview/'));
  const near = exact.flatMap((operation) => [`${pathOf(operation, site.own)}/`, `${pathOf(operation, site.own)}x/y/z`]);
  const paths = [...odd, ...new Set(near.flatMap((path) => prefixes.map((prefix) => prefix + path)))];
  for (const [i, path] of paths.entries()) {
    const method = ['GET', 'POST', 'OPTIONS', 'DELETE'][i % 4]!;
    const headers = { authorization: `Bearer ${site.ann.token}`, ...json };
    const answer = await site.client.send({ method, path, headers, body: method === 'POST' ? '{}' : undefined });
    assert.equal(answer.status, 404, `${method} ${path.slice(0, 60)}`);
    assert.deepEqual(answer.json, { detail: 'Not Found' });
    assert.ok(answer.headers['x-request-id']);
  }
}

function guarded(site: Site): Operation[] {
  return site.api.operations.filter((operation) => operation.scope !== null);
}
