/** Deployments by tasks through the whole service: an agent writes a page, a person approves, a host publishes it, a browser opens it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { goodToken } from '../support/hosts/host-stand-in.ts';
import { NetlifyStandIn } from '../support/hosts/netlify-stand-in.ts';
import type { Json } from '../support/json.ts';
import { type ChatRequest, callTool, finish, silence } from '../support/openai-server.ts';
import { type Case, endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import type { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) => existsSync(file));
/** Its text is there once its script has run. */
const page = `<title>Shop</title><h1 id=h></h1><script>h.textContent = ['Open', 'daily'].join(' ')</script>`;
const triesToOpen = 3;
const writePage = callTool('write_file', { path: 'index.html', content: page });

test('tasks publish their workspace', { timeout: 240_000 }, async (t) => {
  const host = await NetlifyStandIn.start(t);
  const env = { NETLIFY_API_URL: host.apiUrl, ...(chromium === undefined ? {} : { CHROMIUM_PATH: chromium }) };
  const world = await scriptedService(t, env);
  const { service, caller, begin, requestsOf } = world;
  const autoDeploy = { autonomy_level: 0, auto_deploy: true, deploy_target: 'netlify' };
  const creation = (config: object, by = caller) => by.fetch('POST', '/v1/tasks', { prompt: 'case none', config });

  await t.test('auto_deploy to a target without a configuration is 422 when the task is created', async () => {
    const { detail } = (await (await creation(autoDeploy)).json()) as Json;
    assert.deepEqual(
      [detail[0].loc, /no deploy configuration for netlify/.test(detail[0].msg)],
      [['body', 'config', 'deploy_target'], true],
    );
  });

  const credentials = { token: goodToken };
  const config = await caller.json('POST', '/v1/deployments/configs', { name: 'shop', target: 'netlify', credentials });
  let published: Json;

  await t.test('an agent writes a page, a person approves the shown files, and the host has them', async () => {
    // A browser that starts takes the processors of a small machine for some seconds, and the agent waits for it.
    if (chromium !== undefined) await browserStarted(service.url);
    const { id, workspace_id } = await begin('page', deployAndOpen, { autonomy_level: 99 });
    const approval = await pending(caller, id);
    assert.match(
      approval.summary,
      new RegExp(
        `^Publishes 1 file \\(\\d+ bytes\\) of the workspace ${workspace_id} at Netlify with the configuration "shop" \\(${config.id}\\)`,
      ),
    );
    assert.match(approval.summary, /\nFiles: index\.html\.$/);
    assert.equal(host.deploys.length, 0, 'nothing is published before the approval');
    await caller.json('POST', `/v1/agents/${approval.agent_id}/approve/${approval.id}`, { approved: true });
    await seen(caller, '/v1/deployments', ({ data }) => data.length === 1 && data[0].completed_at !== null);
    const task = await endOfTask(caller, { id });
    assert.deepEqual([task.status, task.deployment_id], ['complete', null], task.error);
    const { data } = await caller.json('GET', '/v1/deployments');
    assert.equal(data.length, 1);
    published = data[0];
    assert.deepEqual(
      [published.status, published.task_id, published.config_id, published.workspace_id],
      ['live', id, config.id, workspace_id],
    );
    assert.equal(await (await fetch(published.url)).text(), page);
    assert.deepEqual([host.deploys.length, host.uploads.map(String)], [1, [page]]);
    const types = (await caller.events()).map(({ type }) => type).filter((type) => /^deployment\.(?!log)/.test(type));
    assert.deepEqual(types, ['deployment.building', 'deployment.deploying', 'deployment.live']);
  });

  await t.test('a real browser opens it for the agent', { skip: chromium === undefined && 'no Chromium on this machine' }, () => {
    const read = resultIn(requestsOf('page').at(-1)!);
    assert.ok(read !== null, String(requestsOf('page').at(-1)!.body.messages.at(-1)!.content));
    assert.deepEqual([read.url, read.title, read.text], [`${published.url}/`, 'Shop', '# Open daily']);
  });

  await t.test('with auto_deploy a completed task is published once, without an approval; a failed or cancelled one is not', async () => {
    const done = await endOfTask(caller, await begin('auto', turns(writePage, finish('Written.')), autoDeploy));
    assert.deepEqual([done.status, done.approvals], ['complete', []]);
    const deployment = await endOfDeployment(caller, done.deployment_id);
    assert.deepEqual([deployment.status, deployment.task_id, deployment.config_id], ['live', done.id, config.id]);
    assert.equal(host.uploads.length, 1, 'what the host has is not sent again');
    const failed = await endOfTask(caller, await begin('failing', () => (response) => void response.writeHead(400).end('{}'), autoDeploy));
    const cancelled = await begin('cancelled', turns(writePage, silence()), autoDeploy);
    await caller.fetch('POST', `/v1/tasks/${cancelled.id}/cancel`);
    assert.deepEqual([failed.status, failed.deployment_id], ['failed', null]);
    assert.equal((await caller.json('GET', '/v1/deployments')).total, 2);
    assert.equal(host.deploys.length, 2);
  });

  await t.test("a test key's task is published as a preview, which no live key sees, and nothing is sent to the host", async () => {
    const tester = await caller.program('test', ['tasks.read', 'tasks.write', 'workspaces.read', 'workspaces.write']);
    const sent = host.requests.length;
    const done = await endOfTask(
      tester,
      await begin('trial', turns(writePage, finish('Written.')), { ...autoDeploy, deploy_target: 'vercel' }, tester),
    );
    const deployment = await endOfDeployment(tester, done.deployment_id);
    assert.deepEqual([deployment.status, deployment.mode], ['live', 'test']);
    assert.match(deployment.url, new RegExp(`/preview/${deployment.id}/$`));
    assert.equal(await (await fetch(`${service.url}/preview/${deployment.id}/`)).text(), page);
    assert.equal(host.requests.length, sent);
    assert.equal((await caller.fetch('GET', `/v1/deployments/${deployment.id}`)).status, 404);
  });

  await t.test('an agent whose node is killed while it waits for its deployment has deployed once, and gets one result', async () => {
    const [deploys, sent] = [host.deploys.length, host.requestsOf(/^PUT /).length];
    host.meet(/^PUT /, 'hang');
    const other = callTool('write_file', { path: 'index.html', content: '<title>After the fall</title>' });
    const task = await begin('killed', turns(other, callTool('create_deployment', { target: 'netlify' }), finish('It is public.')), {
      autonomy_level: 100,
    });
    await until(() => host.requestsOf(/^PUT /).length > sent, 'the upload');
    await service.kill();
    await service.restart();
    assert.equal((await endOfTask(caller, task)).status, 'complete');
    const results = requestsOf('killed')
      .at(-1)!
      .body.messages.filter(({ role }) => role === 'tool');
    const deployment = JSON.parse(String(results.at(-1)!.content));
    assert.deepEqual([results.length, deployment.status, deployment.task_id], [2, 'live', task.id]);
    assert.equal(host.deploys.length, deploys + 1);
    assert.match(await (await fetch(deployment.url)).text(), /After the fall/);
  });

  await t.test('no answer, event, log or prompt contains the token of the host', async () => {
    const seen = [await caller.json('GET', '/v1/deployments/configs'), await caller.events(), requestsOf('page').map(({ body }) => body)];
    assert.ok(!(JSON.stringify(seen) + service.output()).includes(goodToken));
  });
});

/** Opens the address that the deployment has answered; again after a failure, as a model would: a busy machine may need longer than a page has. */
const deployAndOpen: Case = ({ request, isPlan, ...asked }) => {
  const results = isPlan ? [] : request.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => parsed(String(content)));
  const url = results.map((result) => result?.status === 'live' && result.url).find(Boolean);
  if (url === undefined) return turns(writePage, callTool('create_deployment', { target: 'netlify' }))({ request, isPlan, ...asked });
  const isOpen = results.at(-1)?.title !== undefined;
  const isTired = results.length > 2 + triesToOpen;
  return isOpen || isTired ? finish('It is public.') : callTool('fetch_url', { url, render: chromium !== undefined });
};

const resultIn = ({ body }: ChatRequest): Json => parsed(String(body.messages.at(-1)!.content));

/** null: text that is no JSON, such as an error for the model. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function browserStarted(url: string): Promise<void> {
  await until(async () => ((await (await fetch(`${url}/health/browser`)).json()) as Json).status === 'ok', 'the start of the browser');
}

async function pending(caller: Caller, taskId: string): Promise<Json> {
  const task = await seen(caller, `/v1/tasks/${taskId}`, ({ status, approvals }) => endStatuses.includes(status) || approvals.length > 0);
  assert.ok(!endStatuses.includes(task.status), JSON.stringify(task));
  return task.approvals[0];
}

const endOfTask = (caller: Caller, { id }: Json) => seen(caller, `/v1/tasks/${id}`, ({ status }) => endStatuses.includes(status));
const endOfDeployment = (caller: Caller, id: string) => seen(caller, `/v1/deployments/${id}`, ({ completed_at: at }) => at !== null);

/** The value once it is as expected. A starting browser may keep the processors of a small machine busy: 503 means a later retry. */
async function seen(caller: Caller, path: string, isSo: (shown: Json) => boolean): Promise<Json> {
  let shown: Json = null;
  await until(async () => {
    const response = await caller.fetch('GET', path);
    shown = await response.json();
    assert.ok(response.ok || response.status === 503, JSON.stringify(shown));
    return response.ok && isSo(shown);
  }, `the end of ${path}`);
  return shown;
}
