/** The real service with two accounts that own one of each kind of thing, and every answer held against its OpenAPI description. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../src/storage/embedded-postgres.ts';
import { DescribedApi, example, type Operation } from './described-api.ts';
import { type Answer, HttpClient, type Sent } from './http-client.ts';
import { Caller, startService } from './service.ts';

export type Ids = Record<string, string>;
export type Site = Awaited<ReturnType<typeof openSite>>;

export const json = { 'content-type': 'application/json' };
const boundary = 'a-boundary';
export const form = { 'content-type': `multipart/form-data; boundary=${boundary}` };
const fileForm = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome text\r\n--${boundary}--\r\n`;

export async function openSite(t: TestContext) {
  const service = await startService(t);
  const client = new HttpClient(() => service.url);
  t.after(() => client.close());
  const api = new DescribedApi((await client.send({ method: 'GET', path: '/v1/openapi.json' })).json);
  const [ann, bob] = await Promise.all([Caller.register(service), Caller.register(service)]);
  const site = { service, client, api, ann, bob, sent: 0, own: {} as Ids, foreign: {} as Ids, weakKey: '', send };

  /** Sends a request and holds its answer against the description. */
  async function send(operation: Operation, sent: Omit<Sent, 'method'> & { method?: string }, token: string | null = ann.token) {
    site.sent++;
    const method = sent.method ?? operation.method;
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...sent.headers };
    const answer = await client.send({ ...sent, method, headers });
    api.check(operation, answer, describe({ ...sent, method, headers }));
    return answer;
  }

  [site.own, site.foreign] = await Promise.all([resourcesOf(site, ann), resourcesOf(site, bob)]);
  // Tries whether files can be stored, by a file that stays.
  await call(site, ann, 'GET', '/v1/health');
  const weak = await call(site, ann, 'POST', '/v1/api-keys', { name: 'weak', scopes: ['billing.read'] });
  site.weakKey = weak.json.key;
  return site;
}

/** One of each kind of thing, of this caller, by the segment of the path or the parameter that names it. */
async function resourcesOf(site: Site, caller: Caller): Promise<Ids> {
  const workspace = (await call(site, caller, 'POST', '/v1/workspaces', { name: 'sales' })).json.id;
  const upload = api(site, 'POST', '/v1/workspaces/x/files');
  const file = (await site.send(upload, { path: `/v1/workspaces/${workspace}/files`, headers: form, body: fileForm }, caller.token)).json
    .id;
  const key = (await call(site, caller, 'POST', '/v1/api-keys', { name: 'a key', scopes: ['tasks.read'] })).json.id;
  const done = (await call(site, caller, 'POST', '/v1/tasks', { prompt: 'summarise a.txt', workspace_id: workspace })).json.id;
  await caller.untilTask(done, ['complete']);
  const deliverable = (await call(site, caller, 'GET', `/v1/tasks/${done}/deliverables`)).json[0].id;
  const approval = await requestApproval(site, caller, workspace);
  return {
    workspaces: workspace,
    file,
    'api-keys': key,
    tasks: done,
    file_id: deliverable,
    agents: approval.agent_id,
    approval_id: approval.id,
  };
}

export async function call(site: Site, caller: Caller, method: string, path: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
  const answer = await site.send(api(site, method, path), { method, path, ...sent }, caller.token);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

/** Has an agent ask for an approval, and answers that. */
export async function requestApproval(site: Site, caller: Caller, workspace: string): Promise<{ id: string; agent_id: string }> {
  const order = { prompt: 'summarise a.txt and e-mail it to ann@example.com', workspace_id: workspace };
  const { id } = (await call(site, caller, 'POST', '/v1/tasks', order)).json;
  for (;;) {
    const { approvals } = (await call(site, caller, 'GET', `/v1/tasks/${id}`)).json;
    if (approvals.length > 0) return approvals[0];
  }
}

export function api(site: { api: DescribedApi }, method: string, path: string): Operation {
  return site.api.find(method, path);
}

export function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** `id` is told apart by the first segment of the path. */
export function keyOf({ path }: Operation, parameter: string): string {
  return parameter === 'id' ? path.split('/')[1]! : parameter;
}

export function pathOf(site: Site, operation: Operation, ids: Ids = site.own): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const id = ids[keyOf(operation, parameter)];
    assert.ok(id, `resourcesOf has no example for {${parameter}} of ${operation.path}`);
    return id;
  });
}

export function validHeaders({ body }: Operation): Record<string, string> {
  return body === null ? {} : body === 'multipart' ? form : json;
}

export function validBody({ body }: Operation): string | undefined {
  return body === null ? undefined : body === 'multipart' ? fileForm : JSON.stringify(example(body));
}

/** Rows of every table, and of files that have no row yet: whatever a refused request could leave behind. */
export async function leftBehind({ dataDir }: { dataDir: string }): Promise<Record<string, unknown>> {
  const database = new pg.Client({ connectionString: (await runningEmbeddedPostgres(dataDir))! });
  await database.connect();
  try {
    const { rows } = await database.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    const counts: Record<string, unknown> = {};
    for (const { name } of rows) counts[name] = Number((await database.query(`select count(*) from "${name}"`)).rows[0].count);
    const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true });
    return { ...counts, files: entries.flatMap((entry) => (entry.isFile() ? entry.name : [])).sort() };
  } finally {
    await database.end();
  }
}

function describe({ method, path, headers, body }: Sent): string {
  const type = headers?.['content-type'] ?? 'no type';
  return `${method} ${path.slice(0, 200)} (${type}) ${body === undefined ? '' : String(body).slice(0, 120)}`;
}
