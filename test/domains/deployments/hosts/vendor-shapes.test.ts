/**
 * What the adapters of Vercel and Cloudflare send, and what their stand-ins answer, beside the vendors' descriptions: excerpts in `test/support/hosts/vendor`,
 * with their sources. Netlify's whole description is checked in official-clients.test.ts, Expo's schema in the stand-in.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { pagesRow, workersRow } from '../../../support/hosts/cloudflare-rows.ts';
import { assertField, type Operation, readDescription } from '../../../support/hosts/described.ts';
import { formOf } from '../../../support/hosts/form-data.ts';
import type { HostRequest } from '../../../support/hosts/host-stand-in.ts';
import { HostWorld } from '../../../support/hosts/host-world.ts';
import { vercelRow } from '../../../support/hosts/vercel-row.ts';
import type { Json } from '../../../support/json.ts';

const vercel = readDescription('vercel');
const cloudflare = readDescription('cloudflare');

test("Vercel: requests of the adapter and answers of the stand-in have fields, kinds and values of Vercel's description", async (t) => {
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  t.after(() => outbound.close());
  const world = await HostWorld.start(vercelRow, outbound, t);
  const { host } = vercelRow;
  const { signal } = new AbortController();
  await host.identify(world.access, signal);
  const made = await world.publish('dep_ours');
  await world.end(made);
  await world.publish('dep_ours', world.site, { isRepeat: true });
  const other = await world.publish('dep_other', world.site);
  await host.cancel({ ...world.access, team: 'team_1' }, other, signal);
  assert.equal(await host.copies!.served(world.access, signal), made);
  await host.copies!.remove(world.access, made, signal);
  const seen = new Set(world.standIn.requests.map(assertVercel));
  assert.deepEqual([...seen].sort(), Object.keys(vercel).sort());
});

test("Cloudflare: requests of the adapters and answers of the stand-in have fields, kinds and values of Cloudflare's description", async (t) => {
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  t.after(() => outbound.close());
  const { signal } = new AbortController();
  const seen = new Set<string>();
  for (const row of [workersRow, pagesRow]) {
    const { host } = row;
    const world = await HostWorld.start(row, outbound, t);
    await host.identify(world.access, signal);
    const site = { ...world.site, '404.html': 'Not here', _headers: '/*\n  X-Robots-Tag: none', _redirects: '/old /new 301' };
    await world.end(await world.publish('dep_ours', site));
    await world.publish('dep_ours', site, { isRepeat: true });
    row.failures.build_failed?.(world.standIn);
    const other = await world.publish('dep_other');
    await world.end(other);
    await host.copies?.served(world.access, signal);
    await host.cancel(world.access, other, signal);
    const described = world.standIn.requests.filter(({ path }) => !path.startsWith('/client/v4/pages/assets/'));
    for (const request of described) seen.add(await assertCloudflare(request));
  }
  const tokensOfAccounts = 'GET /accounts/{id}';
  assert.deepEqual([...seen, tokensOfAccounts].sort(), Object.keys(cloudflare).sort());
});

/** Returns the operation. */
function assertVercel(request: HostRequest): string {
  const { method, path, query, json, answer } = request;
  const name = `${method} ${path.replace(/^(\/v\d+\/(?:deployments|projects)\/)[^/]+/, '$1{id}')}`;
  // Its own client sends `meta-…` (vercel/vercel, packages/cli/src/commands/list); the description lacks it.
  const parameters = [...query].filter(([key]) => !key.startsWith('meta-'));
  assertOperation(vercel[name], name, { parameters, body: json, result: answer!.status < 300 ? answer!.json : undefined });
  return name;
}

/** Fields that Cloudflare's own client reads and the description lacks (cloudflare/workers-sdk). */
const readByItsClient: readonly string[] = ['deployment_id', 'annotations'];

async function assertCloudflare(request: HostRequest): Promise<string> {
  const { method, query, answer } = request;
  const path = request.path
    .replace(/^\/client\/v4/, '')
    .replace(/^(\/accounts\/)[^/]+/, '$1{id}')
    .replace(/(\/(?:scripts|projects)\/)[^/]+/, '$1{name}')
    .replace(/(\/deployments\/)[^/]+/, '$1{id}');
  const name = `${method} ${path}`;
  const { result } = (answer!.json ?? {}) as { result?: Json };
  const known = JSON.stringify(result, (key, value) => (readByItsClient.includes(key) && method !== 'POST' ? undefined : value));
  const parameters = [...query].map(([key, value]): [string, unknown] => [key, value === 'true' ? true : value]);
  const isGood = answer!.status < 300;
  assertOperation(cloudflare[name], name, { parameters, body: await bodyOf(request), result: isGood ? JSON.parse(known) : undefined });
  return name;
}

/** null: it has none. */
async function bodyOf(request: HostRequest): Promise<unknown> {
  if (request.json !== null || request.bytes.length === 0) return request.json;
  const parts = await formOf(request);
  const partOf = (name: string, text: string) => (name === 'metadata' ? JSON.parse(text) : text);
  return Object.fromEntries(parts.map(({ name, bytes }) => [name, partOf(name, bytes.toString('utf8'))]));
}

type Exchange = { parameters: [string, unknown][]; body: unknown; result: unknown };

function assertOperation(operation: Operation | undefined, name: string, { parameters, body, result }: Exchange): void {
  assert.ok(operation !== undefined, `${name} is not described`);
  for (const [key, value] of parameters) {
    const field = operation.query?.[key];
    assert.ok(field !== undefined, `${name} has no parameter ${key}`);
    assertField(field, field.kinds.includes('number') ? Number(value) : value, `${name} ${key}`);
  }
  if (body !== null) assertField(operation.body!, body, `request of ${name}`);
  if (result !== undefined) assertField(operation.answer, result, `answer to ${name}`);
}
