/**
 * What the adapter of Vercel sends, and what the stand-in answers, beside the description of Vercel's API: an excerpt in `test/support/hosts/vendor`, with its
 * source and commit. Answers of the stand-in of Cloudflare are typed by the types of Cloudflare's SDK, which are made from such a description; Netlify's whole
 * description is checked in official-clients.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import type { HostRequest } from '../../../support/hosts/host-stand-in.ts';
import { HostWorld } from '../../../support/hosts/host-world.ts';
import { vercelRow } from '../../../support/hosts/vercel-row.ts';
import type { Json } from '../../../support/json.ts';

type Field = { kinds: string[]; enum?: string[]; required?: true; fields?: Fields; items?: Fields };
type Fields = Record<string, Field>;
type Operation = { query?: Fields; body?: Fields; answer: Fields };

const { operations } = JSON.parse(readFileSync(new URL('../../../support/hosts/vendor/vercel.json', import.meta.url), 'utf8')) as {
  operations: Record<string, Operation>;
};

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
  const seen = new Set(world.standIn.requests.map(assertDescribed));
  assert.deepEqual([...seen].sort(), Object.keys(operations).sort());
});

/** Returns the operation. */
function assertDescribed({ method, path, query, json, answer }: HostRequest): string {
  const name = `${method} ${path.replace(/^(\/v\d+\/(?:deployments|projects)\/)[^/]+/, '$1{id}')}`;
  const operation = operations[name];
  assert.ok(operation !== undefined, `${name} is not described`);
  // Its own client sends `meta-…` (vercel/vercel, packages/cli/src/commands/list); the description lacks it.
  const parameters = [...query].filter(([key]) => !key.startsWith('meta-'));
  for (const [key, value] of parameters) {
    const field = operation.query?.[key];
    assert.ok(field !== undefined, `${name} has no parameter ${key}`);
    assertField(field, field.kinds.includes('number') ? Number(value) : value, `${name} ${key}`);
  }
  if (json !== null) assertFields(operation.body!, json, `request of ${name}`);
  if (answer!.status < 300) assertFields(operation.answer, answer!.json as Json, `answer to ${name}`);
  return name;
}

function assertFields(fields: Fields, value: Json, at: string): void {
  for (const [key, field] of Object.entries(fields)) assert.ok(!field.required || Object.hasOwn(value, key), `${at} lacks ${key}`);
  for (const [key, inner] of Object.entries(value)) {
    const field = fields[key];
    assert.ok(field !== undefined, `${at} has no ${key}`);
    assertField(field, inner, `${at}, ${key}`);
  }
}

function assertField({ kinds, enum: values, fields, items }: Field, value: unknown, at: string): void {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  assert.ok(kinds.includes(kind) || kinds.includes('any'), `${at} is ${kind}, not ${kinds.join(' or ')}`);
  if (kind === 'string' && values !== undefined) assert.ok(values.includes(value as string), `${at} is ${value}`);
  if (fields !== undefined && kind === 'object') assertFields(fields, value as Json, at);
  if (items !== undefined && kind === 'array') for (const item of value as Json[]) assertFields(items, item, at);
}
