/** The real service with two accounts that own one object of each kind; every answer is compared with its OpenAPI description. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { newId } from '../../src/ids.ts';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { tarEnd, tarParts } from '../../src/tar.ts';
import { DescribedApi, type Operation } from './described-api.ts';
import { type Answer, HttpClient, type Sent } from './http-client.ts';
import { McpStandIn } from './mcp-stand-in.ts';
import { OAuthStandIn } from './oauth-stand-in.ts';
import type { Scope } from './scope.ts';
import { Caller, startService } from './service.ts';
import { until } from './until.ts';
import { startReceiver } from './webhook-receiver.ts';

/** One id of each kind of thing, by the path up to it: `/tasks/{id}/deliverables/{file_id}`. */
export type Ids = Record<string, string>;
export type Site = Awaited<ReturnType<typeof openSite>>;

export const json = { 'content-type': 'application/json' };
const boundary = 'a-boundary';
export const form = { 'content-type': `multipart/form-data; boundary=${boundary}` };

export const whatsapp = { verifyToken: 'verify-me', appSecret: 'secret-of-the-app' };

/** @param t whose end ends the service too */
export async function openSite(t: Scope) {
  const receiver = await startReceiver(t);
  const mcp = await new McpStandIn().start();
  t.after(() => mcp.stop());
  const github = await OAuthStandIn.start(t);
  const nowhere = 'http://127.0.0.1:1';
  const host = await refusingHost(t);
  const hosts = { VERCEL_API_URL: host, NETLIFY_API_URL: host, CLOUDFLARE_API_URL: host, EXPO_API_URL: host };
  const places = { OUTBOUND_ALLOW: '127.0.0.1', ALPACA_API_URL: nowhere, ...hosts };
  const service = await startService(t, {
    ...places,
    ...github.env('github'),
    ...{ WHATSAPP_VERIFY_TOKEN: whatsapp.verifyToken, WHATSAPP_APP_SECRET: whatsapp.appSecret },
  });
  const client = new HttpClient(() => service.url);
  t.after(() => client.close());
  await onDatabase(service, (database) => database.query(everybodyOnBusiness));
  const api = new DescribedApi((await client.send({ method: 'GET', path: '/v1/openapi.json' })).json);
  const [ann, bob] = await Promise.all([Caller.register(service), Caller.register(service)]);
  const site = {
    service,
    client,
    api,
    ann,
    bob,
    receiver,
    mcp,
    sent: 0,
    answered: new Map<string, string[]>(),
    own: {} as Ids,
    foreign: {} as Ids,
    send,
  };

  /** Sends a request and holds its answer against the description. */
  async function send(operation: Operation, sent: Omit<Sent, 'method'> & { method?: string }, token: string | null = ann.token) {
    site.sent++;
    const method = sent.method ?? operation.method;
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...sent.headers };
    const answer = await client.send({ ...sent, method, headers });
    api.check(operation, answer, describe({ ...sent, method, headers }));
    assert.ok(answer.status < 500, `${describe({ ...sent, method })}: ${answer.status} ${answer.text}`);
    // What is open to all speaks of no account, but shows ids as examples.
    if (operation.scope !== null && token !== null && answer.status < 300)
      site.answered.set(token, [...(site.answered.get(token) ?? []), answer.text]);
    return answer;
  }

  [site.own, site.foreign] = await Promise.all([resourcesOf(site, ann, 'ann'), resourcesOf(site, bob, 'bob')]);
  // What is counted afterwards has come to its end.
  for (const [caller, ids] of [[ann, site.own] as const, [bob, site.foreign] as const]) {
    const path = `/v1/deployments/${ids['/deployments/{id}']}`;
    await until(async () => (await call(site, caller, 'GET', path)).json.status === 'failed', 'the end of a deployment');
  }
  // Tries whether files can be stored, by a file that stays.
  await call(site, ann, 'GET', '/v1/health');
  return site;
}

/** A host that knows every token and takes no site, which it says so late that what is published there can be cancelled before. */
async function refusingHost(t: Scope): Promise<string> {
  const server = createServer(async (request, response) => {
    request.resume();
    const isRead = request.method === 'GET';
    if (!isRead) await pause(6_000);
    response.writeHead(isRead ? 200 : 403, json).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Some things need that plan. */
const everybodyOnBusiness = `
create function on_business() returns trigger language plpgsql as $$ begin new.plan := 'business'; return new; end $$;
create trigger on_business before insert on account_override for each row execute function on_business();
`;

type Make = (site: Site, caller: Caller, ids: Ids, owner: string) => Promise<string>;

/** Creates resources that a POST of the documented example to the path above, answered with an `id`, does not create. */
const makers: Record<string, Make> = {
  '/workspaces/{id}/files/{file}': async (site, caller, ids, owner) => {
    const upload = site.api.find('POST', '/workspaces/x/files');
    const body = formOf('a.txt', `a text of ${owner}`);
    return (await site.send(upload, { path: `/v1/workspaces/${ids['/workspaces/{id}']}/files`, headers: form, body }, caller.token)).json
      .id;
  },
  '/tasks/{id}': async (site, caller, ids) => {
    const { id } = (await call(site, caller, 'POST', '/v1/tasks', orderFor(ids))).json;
    await caller.untilTask(id, ['complete']);
    return id;
  },
  '/tasks/{id}/deliverables/{file_id}': async (site, caller, ids) =>
    (await call(site, caller, 'GET', `/v1/tasks/${ids['/tasks/{id}']}/deliverables`)).json[0].id,
  '/agents/{id}': async (site, caller, ids) => (await requestApproval(site, caller, ids)).agent_id,
  '/agents/{id}/approve/{approval_id}': async (site, caller, ids) => {
    const agent = (await call(site, caller, 'GET', `/v1/agents/${ids['/agents/{id}']}`)).json;
    return (await call(site, caller, 'GET', `/v1/tasks/${agent.task_id}`)).json.approvals[0].id;
  },
  '/commerce/wallet/deposits/{id}': async (site, caller) =>
    (await call(site, caller, 'POST', '/v1/commerce/wallet/deposit', { amount: 1, source: 'card' })).json.id,
  '/checkout/{key}': (site, caller) => openCheckout(site, caller),
  '/billing/invoices/{id}': async (site, caller) => {
    const key = await openCheckout(site, caller);
    await site.send(site.api.find('POST', '/checkout/x'), { path: `/checkout/${key}?do=pay` }, null);
    const invoices = async () => (await call(site, caller, 'GET', '/v1/billing/invoices')).json.data;
    await until(async () => (await invoices()).length > 0, 'the invoice');
    return (await invoices())[0].id;
  },
  '/integrations/mcp/{id}': async (site, caller, _ids, owner) =>
    (await call(site, caller, 'POST', '/v1/integrations/mcp', { name: `of_${owner}`, url: site.mcp.url })).json.id,
  '/preview/{id}': ({ service }, _caller, ids) => openPreview(service, ids['/workspaces/{id}']!),
  '/preview/{id}/{path}': async () => 'a.txt',
  '/trading/bars/{symbol}': async () => 'AAPL',
  '/trading/quotes/{symbol}': async () => 'AAPL',
  '/trading/backtests/{id}': (site, caller, ids) => endedOf(site, caller, ids, '/trading/backtests'),
  '/trading/sweeps/{id}': (site, caller, ids) => endedOf(site, caller, ids, '/trading/sweeps'),
  '/api-keys/webhooks/{id}/deliveries/{delivery}': async (site, caller, ids) =>
    (await call(site, caller, 'POST', `/v1/api-keys/webhooks/${ids['/api-keys/webhooks/{id}']}/test`)).json.id,
};

/** One of each kind of thing, of this caller. */
async function resourcesOf(site: Site, caller: Caller, owner: string): Promise<Ids> {
  const ids: Ids = {};
  const keys = new Set(site.api.operations.flatMap(({ path }) => parametersIn(path).map((name) => keyOf(path, name))));
  // Files first: agents read them. Strategies before their backtests, configurations before their deployments. Then each resource before those below
  // its path.
  const place = (key: string) => (/^\/(workspaces|trading\/strategies|deployments\/configs)/.test(key) ? 0 : 100) + key.length;
  for (const key of [...keys].sort((one, other) => place(one) - place(other))) {
    ids[key] = await (makers[key] ?? byExample(key))(site, caller, ids, owner);
  }
  return ids;
}

function byExample(key: string): Make {
  return async (site, caller, ids, owner) => {
    const path = key.slice(0, key.lastIndexOf('/'));
    const operation = site.api.operations.find(({ name }) => name === `POST ${path}`);
    assert.ok(operation, `makers has none for ${key}, and there is no POST ${path}`);
    const { id } = (await call(site, caller, 'POST', `/v1${pathOf(operation, ids)}`, goodBody(site, operation, ids, owner))).json;
    assert.equal(typeof id, 'string', `makers has none for ${key}, and the answer of POST ${path} has no id`);
    return id;
  };
}

/** One of what is computed, by the documented example, once it is complete. */
async function endedOf(site: Site, caller: Caller, ids: Ids, path: string): Promise<string> {
  const id = await byExample(`${path}/{id}`)(site, caller, ids, '');
  await until(async () => (await call(site, caller, 'GET', `/v1${path}/${id}`)).json.status === 'complete', `the end of ${id}`);
  return id;
}

/** The caller's own ids, with a new thing in the place of the one that the path names, where an example makes it: it is as it is made. */
export async function freshIds(site: Site, { path }: Operation): Promise<Ids> {
  const [first, ...inner] = parametersIn(path);
  if (first === undefined || inner.length > 0) return site.own;
  const key = keyOf(path, first);
  if (key in makers) return site.own;
  return { ...site.own, [key]: await byExample(key)(site, site.ann, site.own, `ann, once more for ${path}`) };
}

/** A row of a deployment that has been live with a test key, and its snapshot of the workspace. Answers its id. */
function openPreview(service: { dataDir: string }, workspaceId: string): Promise<string> {
  const [id, snapshotId] = [newId('dep_', workspaceId), newId('snap_', workspaceId)];
  return onDatabase(service, async (database) => {
    await database.query(
      `with file as (select * from workspace_file where workspace_id = $1 and name = 'a.txt'), snapshot as (insert into snapshot_file
        (snapshot_id, path, account_id, type, size_bytes, sha256, content_key)
        select $3, name, account_id, type, size_bytes, sha256, content_key from file)
      insert into deployment (id, account_id, mode, workspace_id, target, status, step, snapshot_id, site_id, log_lines, created_at)
        select $2, account_id, 'test', $1, 'vercel', 'live', 'ended', $3, $3, 0, now() from file`,
      [workspaceId, id, snapshotId],
    );
    return id;
  });
}

/** Answers the key of its page. */
export async function openCheckout(site: Site, caller: Caller): Promise<string> {
  const { checkout_url: url } = (await call(site, caller, 'POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' })).json;
  return new URL(url).pathname.split('/').at(-1)!;
}

/** The documented example of a body, about things that are there. */
export function goodBody(site: Site, { name, example }: Operation, ids: Ids, owner = ''): unknown {
  if (typeof example !== 'object' || example === null) return example;
  const body: Record<string, unknown> = { ...example, ...bodies[name]?.(site) };
  for (const [field, key] of referencesIn(body, ids)) body[field] = ids[key];
  if (owner !== '' && 'name' in body) body.name = `${body.name} of ${owner}`;
  return body;
}

/** What is put into an example: the outer world stays outside. */
const bodies: Record<string, (site: Site) => object> = {
  'POST /integrations': () => ({ oauth_code: 'good' }),
  'POST /billing/checkout': ({ service }) => ({ success_url: service.url, cancel_url: service.url }),
  'POST /integrations/mcp': ({ mcp }) => ({ url: mcp.url }),
  'POST /api-keys/webhooks': ({ receiver }) => ({ url: receiver.url }),
  'PATCH /api-keys/webhooks/{id}': ({ receiver }) => ({ url: receiver.url }),
};

/** Fields that name another thing, with the kind of it: `workspace_id` names one of `/workspaces/{id}`. */
export function referencesIn(body: object, ids: Ids): [field: string, key: string][] {
  return Object.keys(body).flatMap((field): [string, string][] => {
    const kind = /^(\w+)_id$/.exec(field)?.[1];
    const plural = kind?.replace(/y$/, 'ie').concat('s');
    const key = kind === undefined ? undefined : Object.keys(ids).find((path) => path.endsWith(`/${plural}/{id}`));
    return key === undefined ? [] : [[field, key]];
  });
}

export async function call(site: Site, caller: Caller, method: string, path: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
  const answer = await site.send(site.api.find(method, path), { method, path, ...sent }, caller.token);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

/** Has an agent ask for an approval, and answers that. */
export async function requestApproval(site: Site, caller: Caller, ids: Ids): Promise<{ id: string; agent_id: string; task_id: string }> {
  const order = orderFor(ids, 'summarise a.txt and e-mail it to ann@example.com');
  const { id } = (await call(site, caller, 'POST', '/v1/tasks', order)).json;
  const approvals = async () => (await call(site, caller, 'GET', `/v1/tasks/${id}`)).json.approvals;
  await until(async () => (await approvals()).length > 0, 'the approval');
  return (await approvals())[0];
}

function orderFor(ids: Ids, prompt = 'summarise a.txt'): object {
  return { prompt, workspace_id: ids['/workspaces/{id}'] };
}

export function parametersIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** The kind of thing that a parameter names: the path up to it. */
export function keyOf(path: string, parameter: string): string {
  const braces = `{${parameter}}`;
  return path.slice(0, path.indexOf(braces) + braces.length);
}

export function pathOf({ path }: Operation, ids: Ids): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) => ids[keyOf(path, parameter)]!);
}

/** With the query that it cannot do without. */
export function goodPath(operation: Operation, ids: Ids): string {
  const needed = operation.parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = needed.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`).join('&');
  return pathOf(operation, ids) + (query === '' ? '' : `?${query}`);
}

export function goodHeaders({ body }: Operation): Record<string, string> {
  return body === null ? {} : body === 'multipart' ? form : json;
}

/** As it is sent. */
export function goodContent(site: Site, operation: Operation, ids: Ids = site.own): string | undefined {
  if (operation.body === 'multipart')
    return operation.path.endsWith('/archives') ? formOf('b.tar', archiveOf('b.txt', 'some text')) : formOf('b.txt', 'some text');
  return operation.body === null ? undefined : JSON.stringify(goodBody(site, operation, ids));
}

function archiveOf(name: string, text: string): string {
  const parts = tarParts({ name, sizeBytes: text.length }, new Blob([]));
  return [...parts, tarEnd].map((part) => (part instanceof Blob ? text : Buffer.from(part).toString('latin1'))).join('');
}

export function formOf(fileName: string, content: string): string {
  const disposition = `content-disposition: form-data; name="file"; filename="${fileName}"`;
  return `--${boundary}\r\n${disposition}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
}

/** The number of rows of every table, and of files without a row: everything that a refused request could leave behind. */
export function leftBehind(service: { dataDir: string }): Promise<Record<string, unknown>> {
  return onDatabase(service, async (database) => {
    const { rows } = await database.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    const counts: Record<string, unknown> = {};
    for (const { name } of rows) counts[name] = Number((await database.query(`select count(*) from "${name}"`)).rows[0].count);
    const entries = await readdir(join(service.dataDir, 'files'), { recursive: true, withFileTypes: true });
    return { ...counts, files: entries.flatMap((entry) => (entry.isFile() ? entry.name : [])).sort() };
  });
}

export async function onDatabase<T>({ dataDir }: { dataDir: string }, use: (database: pg.Client) => Promise<T>): Promise<T> {
  const database = new pg.Client({ connectionString: (await runningEmbeddedPostgres(dataDir))! });
  await database.connect();
  try {
    return await use(database);
  } finally {
    await database.end();
  }
}

function describe({ method, path, headers, body }: Sent): string {
  const type = headers?.['content-type'] ?? 'no type';
  return `${method} ${path.slice(0, 200)} (${type}) ${body === undefined ? '' : String(body).slice(0, 120)}`;
}
