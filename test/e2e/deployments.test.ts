/**
 * Deployments from outside: the whole service with stand-ins of hosts. One service, which is killed and restarted in one of the
 * tests.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { CloudflareStandIn, goodAccount } from '../support/hosts/cloudflare-stand-in.ts';
import type { HostStandIn } from '../support/hosts/host-stand-in.ts';
import { goodToken } from '../support/hosts/host-stand-in.ts';
import { NetlifyStandIn } from '../support/hosts/netlify-stand-in.ts';
import { VercelStandIn } from '../support/hosts/vercel-stand-in.ts';
import type { Json } from '../support/json.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let vercel: VercelStandIn;
let netlify: NetlifyStandIn;
let cloudflare: CloudflareStandIn;
let service: Service;
let caller: Caller;
const configs: Record<string, Json> = {};
const ends: (() => unknown)[] = [];
let workspaces = 0;

before(async () => {
  const t = { after: (end: () => unknown) => void ends.push(end) };
  [vercel, netlify, cloudflare] = await Promise.all([VercelStandIn.start(t), NetlifyStandIn.start(t), CloudflareStandIn.start(t)]);
  service = await startService(t, {
    ...{
      VERCEL_API_URL: vercel.apiUrl,
      NETLIFY_API_URL: netlify.apiUrl,
      CLOUDFLARE_API_URL: cloudflare.apiUrl,
      OUTBOUND_ALLOW: '127.0.0.1',
    },
  });
  caller = await Caller.register(service);
  for (const target of ['vercel', 'netlify'])
    configs[target] = await caller.json('POST', '/v1/deployments/configs', {
      name: `my ${target}`,
      target,
      credentials: { token: goodToken },
    });
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

beforeEach(() => {
  vercel.next = 'ready';
  vercel.faults = [];
});

async function workspaceWith(files: Record<string, string>): Promise<string> {
  const { id } = await caller.json('POST', '/v1/workspaces', { name: `site ${++workspaces}` });
  for (const [name, content] of Object.entries(files)) await caller.upload(id, name, content);
  return id;
}

const deploy = (workspaceId: string, target: string): Promise<Json> =>
  caller.json('POST', '/v1/deployments', { workspace_id: workspaceId, target, config_id: configs[target].id });

async function ended(id: string): Promise<Json> {
  let shown: Json;
  await until(async () => {
    const response = await caller.fetch('GET', `/v1/deployments/${id}`);
    shown = await response.json();
    return shown.status === 'live' || shown.status === 'failed';
  }, `the end of ${id}`);
  return shown;
}

async function walkOf(id: string): Promise<string[]> {
  const events = await caller.events();
  return events.filter(({ data }) => data.deployment?.id === id).map(({ type }) => type);
}

test('a site becomes live at each host with events in order, its address answers, and unchanged contents are not sent again', async () => {
  const hosts: [string, HostStandIn, () => number][] = [
    ['vercel', vercel, () => vercel.uploads.length],
    ['netlify', netlify, () => netlify.uploads.length],
  ];
  for (const [target, standIn, uploads] of hosts) {
    const workspaceId = await workspaceWith({ 'index.html': `<h1>${target}</h1>`, 'style.css': 'body { color: red }' });
    const created = await deploy(workspaceId, target);
    assert.deepEqual([created.status, created.url, created.completed_at, created.config_id], ['pending', null, null, configs[target].id]);
    const live = await ended(created.id);
    assert.deepEqual([live.status, live.error, live.files], ['live', null, 2]);
    assert.equal(live.url, `http://${standIn.siteHost}`);
    assert.equal(await (await fetch(live.url)).text(), `<h1>${target}</h1>`);
    assert.deepEqual(await walkOf(live.id), ['deployment.building', 'deployment.deploying', 'deployment.live']);
    const sent = uploads();
    await caller.upload(workspaceId, 'index.html', '<h1>changed</h1>');
    const again = await ended((await deploy(workspaceId, target)).id);
    assert.deepEqual([again.status, uploads() - sent], ['live', 1], target);
    assert.ok(!JSON.stringify(await caller.json('GET', `/v1/deployments/${live.id}/logs`)).includes(goodToken));
  }
  const { data, total, has_more } = await caller.json('GET', '/v1/deployments?limit=3');
  assert.deepEqual([data.length, total, has_more], [3, 4, true]);
});

test('the address of a site at Cloudflare is the one that its configuration names', async () => {
  const own = netlify.siteHost;
  const credentials = { token: goodToken, account_id: goodAccount };
  const asked = { name: 'my worker', target: 'cloudflare', credentials, url: `http://${own}/` };
  configs.cloudflare = await caller.json('POST', '/v1/deployments/configs', asked);
  const live = await ended((await deploy(await workspaceWith({ 'index.html': '<h1>worker</h1>' }), 'cloudflare')).id);
  assert.deepEqual([live.status, live.error, live.url, live.provider_id === null], ['live', null, `http://${own}/`, false]);
  const { total } = await caller.json('GET', '/v1/deployments?target=cloudflare');
  assert.equal(total, 1);
});

test("a deployment at a host that is never ready is cancelled within ten seconds of the request, and a failed one has the host's text", async () => {
  vercel.next = 'none';
  const { id } = await deploy(await workspaceWith({ 'index.html': 'never' }), 'vercel');
  await until(async () => (await caller.json('GET', `/v1/deployments/${id}`)).provider_id !== null, 'its id at the host');
  const cancelled = await caller.json('POST', `/v1/deployments/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.error.code], ['failed', 'cancelled']);
  const askedAtMs = performance.now();
  await until(() => vercel.requestsOf(/^PATCH .*cancel$/).length === 1, 'the cancellation');
  assert.ok(performance.now() - askedAtMs < 10_000);
  assert.equal(vercel.deployments.at(-1)!.readyState, 'CANCELED');
  assert.equal((await caller.fetch('POST', `/v1/deployments/${id}/cancel`)).status, 409);
  vercel.next = 'alias_fails';
  const failed = await ended((await deploy(await workspaceWith({ 'index.html': 'no alias' }), 'vercel')).id);
  assert.deepEqual([failed.status, failed.error.code, failed.provider_id === null, failed.url], ['failed', 'alias_failed', false, null]);
  assert.match(failed.error.message, /certificate of the alias/);
});

test('a test key sends nothing: its site is a sandboxed preview of this service, with the same events', async () => {
  const asked = vercel.requests.length;
  const program = await caller.program('test', ['workspaces.read', 'workspaces.write']);
  const workspace_id = await workspaceWith({ 'index.html': '<h1>preview</h1>' });
  const { id } = await program.json('POST', '/v1/deployments', { workspace_id, target: 'vercel' });
  await until(async () => (await program.json('GET', `/v1/deployments/${id}`)).status === 'live', 'the preview');
  const { url, mode } = await program.json('GET', `/v1/deployments/${id}`);
  assert.deepEqual([url, mode], [`${service.url}/preview/${id}/`, 'test']);
  const page = await fetch(url);
  assert.deepEqual([page.status, await page.text()], [200, '<h1>preview</h1>']);
  assert.match(page.headers.get('content-security-policy')!, /sandbox allow-scripts/);
  assert.equal(vercel.requests.length, asked);
  assert.equal((await caller.fetch('GET', `/v1/deployments/${id}`)).status, 404, 'live callers do not see it');
});

test('a build publishes the output of its command, and a failed one has its last lines in error and log', async (t) => {
  const common = { target: 'vercel', credentials: { token: goodToken } };
  const making = { ...common, name: 'made', build_command: 'mkdir dist && cp index.html dist/ && echo made it' };
  const failing = { ...common, name: 'failing', build_command: 'echo why it failed >&2; exit 3' };
  const workspace_id = await workspaceWith({ 'index.html': '<h1>built</h1>', 'source.html': 'x' });
  const { id: config_id } = await caller.json('POST', '/v1/deployments/configs', making);
  const response = await caller.fetch('POST', '/v1/deployments', { workspace_id, target: 'vercel', config_id });
  if (response.status === 409) return t.skip(((await response.json()) as Json).detail);
  const live = await ended(((await response.json()) as Json).id);
  assert.deepEqual([live.status, live.error, live.files], ['live', null, 1]);
  assert.equal(await (await fetch(live.url)).text(), '<h1>built</h1>');
  const lines = (await caller.json('GET', `/v1/deployments/${live.id}/logs`)).data;
  assert.ok(lines.some(({ source, text }: Json) => source === 'build' && text === 'made it'));
  const { id } = await caller.json('POST', '/v1/deployments/configs', failing);
  const failed = await ended((await caller.json('POST', '/v1/deployments', { workspace_id, target: 'vercel', config_id: id })).id);
  assert.deepEqual([failed.status, failed.error.code], ['failed', 'build_failed']);
  assert.match(failed.error.message, /why it failed/);
});

test('a site without an index fails as probe_failed and keeps its id at the host', async () => {
  // Only here: on a busy machine a site that answers may need longer.
  await service.stop();
  await service.restart({ DEPLOY_PROBE_MS: '3000' });
  const failed = await ended((await deploy(await workspaceWith({ 'other.html': 'x' }), 'netlify')).id);
  assert.deepEqual([failed.status, failed.error.code, failed.provider_id === null], ['failed', 'probe_failed', false]);
  assert.match(failed.error.message, /404/);
});

test('after kills during an upload, a creation and a poll the deployment continues: it exists once at the host and nothing is sent twice', async () => {
  const [made, sent] = [vercel.deployments.length, vercel.uploads.length];
  const steps = [/^POST \/v2\/files$/, /^POST \/v13\/deployments$/, /^GET \/v13\/deployments\/./];
  let id: string | null = null;
  const workspaceId = await workspaceWith({ 'index.html': '<h1>killed</h1>', 'a.html': 'a of killed', 'b.html': 'b of killed' });
  for (const step of steps) {
    const before = vercel.requestsOf(step).length;
    vercel.meet(step, 'hang');
    id ??= (await deploy(workspaceId, 'vercel')).id as string;
    await until(() => vercel.requestsOf(step).length > before, String(step));
    await service.kill();
    vercel.faults = [];
    await service.restart();
  }
  const live = await ended(id!);
  assert.deepEqual([live.status, live.error], ['live', null]);
  assert.equal(vercel.deployments.length - made, 1);
  assert.equal(new Set(vercel.uploads.slice(sent).map(String)).size, vercel.uploads.length - sent);
  assert.deepEqual(await walkOf(id!), ['deployment.building', 'deployment.deploying', 'deployment.live']);
});
