import assert from 'node:assert/strict';
import test, { after, before, beforeEach } from 'node:test';
import { pages } from '../../../../src/domains/deployments/hosts/pages.ts';
import { workers } from '../../../../src/domains/deployments/hosts/workers.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { CloudflareStandIn, goodAccount } from '../../../support/hosts/cloudflare-stand-in.ts';
import { goodToken } from '../../../support/hosts/host-stand-in.ts';
import { Publishing, type PublishingOptions } from '../../../support/hosts/publishing.ts';

const site = {
  'index.html': '<h1>Hello</h1>',
  'about/index.html': '<h1>About</h1>',
  'copy/index.html': '<h1>About</h1>',
  'style.css': 'h1 { color: teal }',
  'app.js': 'console.log(1)',
  'logo.png': Buffer.from([137, 80, 78, 71, 0, 255]),
  'empty.txt': '',
};
const ends: (() => unknown)[] = [];
let standIn: CloudflareStandIn;
let outbound: Outbound;

before(() => {
  outbound = createOutbound({ allow: [] });
  ends.push(() => outbound.close());
});
beforeEach(async () => {
  standIn = await CloudflareStandIn.start({ after: (end) => void ends.push(end) });
});
after(async () => {
  for (const end of ends) await end();
});

const deployWorker = (more: Partial<PublishingOptions> = {}) => deploying({ host: workers, ...more });
const deployPages = (more: Partial<PublishingOptions> = {}) => deploying({ host: pages, project: 'my-pages', ...more });

test('a Worker gets every file once, by its key and with its type, and its assets with the tag of the deployment', async () => {
  const deployment = deployWorker();
  const providerId = await deployment.publish();
  const [version] = standIn.scripts.scripts.get('my-site')!.versions;
  assert.deepEqual([providerId, deployment.created], [version!.id, [version!.id]]);
  assert.equal(version!.annotations['workers/tag'], 'dep_1');
  for (const [path, content] of Object.entries(site)) assert.deepEqual(standIn.scripts.live!.get(`/${path}`), Buffer.from(content), path);
  assert.equal(deployment.opened.length, 6, 'two files of one content are sent once');
  const types = [...standIn.scripts.assets.values()].map(({ type }) => type);
  assert.deepEqual(types.filter((type) => type === 'text/html; charset=utf-8').length, 2);
  assert.equal(standIn.requestsOf(/assets\/upload/).length, 2);
  assert.deepEqual(await workers.state(deployment.access, providerId, deployment.abort.signal), {
    kind: 'live',
    url: 'my-site.of-tests.workers.dev',
  });
  assert.equal(standIn.scripts.scripts.get('my-site')!.isServed, true);
});

test('a second deployment of a Worker sends only changed files', async () => {
  await deployWorker().publish();
  const same = deployWorker({ deploymentId: 'dep_2' });
  await same.publish();
  assert.deepEqual(same.opened, []);
  const changed = deployWorker({ deploymentId: 'dep_3', site: { ...site, 'app.js': 'console.log(2)' } });
  await changed.publish();
  assert.deepEqual(changed.opened, ['app.js']);
});

test('a Worker that was not deployed by this service is not replaced', async () => {
  standIn.scripts.add('my-site');
  await assert.rejects(deployWorker().publish(), { code: 'bad_name', message: /named my-site/ });
  assert.deepEqual(writes(), []);
  standIn.scripts.add('my-site', 'dep_0');
  await deployWorker().publish();
});

test('without a workers.dev subdomain nothing is sent, unless the configuration has a custom address', async () => {
  standIn.subdomain = null;
  await assert.rejects(deployWorker().publish(), { code: 'alias_failed', message: /workers\.dev/ });
  assert.deepEqual(writes(), []);
  const own = deployWorker({ url: 'https://site.example/' });
  const providerId = await own.publish();
  assert.deepEqual(await workers.state(own.access, providerId, own.abort.signal), { kind: 'live', url: 'https://site.example/' });
  assert.equal(standIn.scripts.scripts.get('my-site')!.isServed, false);
});

test('an expired upload token is replaced by a new session, which requests the remaining files', async () => {
  const ended = { status: 401, json: { success: false, errors: [{ code: 10_000, message: 'Expired' }] } };
  standIn.meet(/assets\/upload/, { after: ended }, ended);
  const deployment = deployWorker();
  await deployment.publish();
  assert.equal(standIn.requestsOf(/assets-upload-session/).length, 2);
  assert.equal(deployment.opened.length, 9);
  standIn.meet(/assets\/upload/, ended, ended, ended);
  await assert.rejects(deployWorker({ deploymentId: 'dep_2', site: { 'index.html': 'new' } }).publish(), {
    code: 'auth',
    message: /Expired/,
  });
});

test('a site of Pages creates its project, sends missing contents, and is live after its stages', async () => {
  const deployment = deployPages();
  const providerId = await deployment.publish();
  assert.deepEqual(standIn.projects.projects.get('my-pages'), { name: 'my-pages', production_branch: 'main' });
  assert.equal(deployment.opened.length, 6);
  assert.equal(standIn.projects.noted.size, 6);
  standIn.projects.stages = [
    { name: 'queued', status: 'active' },
    { name: 'deploy', status: 'active' },
  ];
  const { signal } = deployment.abort;
  assert.equal((await pages.state(deployment.access, providerId, signal)).kind, 'working');
  assert.deepEqual(await pages.state(deployment.access, providerId, signal), { kind: 'working', detail: 'deploy: active' });
  assert.deepEqual(await pages.state(deployment.access, providerId, signal), { kind: 'live', url: `http://${standIn.siteHost}` });
  for (const [path, content] of Object.entries(site)) assert.deepEqual(standIn.projects.live!.get(`/${path}`), Buffer.from(content), path);
  const next = deployPages({ deploymentId: 'dep_2', site: { ...site, 'app.js': 'console.log(2)' } });
  await next.publish();
  assert.deepEqual(next.opened, ['app.js']);
});

test('a failed stage of Pages is reported with the last line of its log', async () => {
  const deployment = deployPages();
  const providerId = await deployment.publish();
  standIn.projects.lines = ['Validating asset output directory', 'Error: the manifest is too large'];
  standIn.projects.stages = [
    { name: 'deploy', status: 'failure' },
    { name: 'deploy', status: 'canceled' },
  ];
  const { signal } = deployment.abort;
  const failed = await pages.state(deployment.access, providerId, signal);
  assert.deepEqual(failed, { kind: 'failed', code: 'build_failed', message: 'Cloudflare Pages: Error: the manifest is too large' });
  assert.equal((await pages.state(deployment.access, providerId, signal)).kind, 'failed');
});

test('an expired token of Pages is replaced once, and its limit of files is checked before anything is sent', async () => {
  standIn.meet(/check-missing/, { status: 401, json: { success: false, errors: [{ code: 8_000_013, message: 'Authorization failed' }] } });
  await deployPages().publish();
  assert.equal(standIn.projects.uploadTokens.size, 2);
  standIn.projects.maxFiles = 3;
  const before = writes().length;
  await assert.rejects(deployPages({ deploymentId: 'dep_2' }).publish(), { code: 'too_many_files' });
  assert.equal(writes().length, before);
});

test('files with headers and redirects are sent as settings, and code is refused', async () => {
  const routed = { ...site, _headers: '/*\n  X-Test: 1', _redirects: '/old /new', '404.html': 'Nothing' };
  await deployWorker({ site: routed }).publish();
  const { metadata } = standIn.scripts.scripts.get('my-site')!;
  assert.deepEqual(metadata.assets!.config, { not_found_handling: '404-page', _headers: routed._headers, _redirects: routed._redirects });
  assert.equal(standIn.scripts.live!.has('/_headers'), false);
  await deployPages({ site: routed }).publish();
  assert.deepEqual(standIn.projects.deployments[0]!.settings, { _headers: routed._headers, _redirects: routed._redirects });
  for (const host of [workers, pages]) {
    assert.match(host.limits.badName!('_worker.js')!, /code/);
    assert.match(host.limits.badName!('_worker.js/index.js')!, /code/);
    assert.equal(host.limits.badName!('a/_worker.js'), null);
  }
  assert.match(pages.limits.badName!('functions/hello.js')!, /code/);
});

test('a repeated publish continues the deployment found by the tag and creates nothing again', async () => {
  for (const deploy of [deployWorker, deployPages]) {
    const first = await deploy().publish();
    const before = writes().length;
    assert.equal(await deploy().publish(true), first);
    assert.deepEqual(writes().slice(before), []);
  }
});

test('after a lost answer the last step is searched by its tag, and a refusal inside a 200 answer is a failure', async () => {
  standIn.meet(/^PUT /, 'lost');
  await deployWorker().publish();
  assert.equal(standIn.scripts.scripts.get('my-site')!.versions.length, 1);
  standIn.meet(/^POST .*\/deployments$/, { after: { status: 502, text: '<html>Bad gateway</html>' } });
  await deployPages().publish();
  assert.equal(standIn.projects.deployments.length, 1);
  const error = { status: 200, json: { success: false, errors: [{ code: 7003, message: 'No such thing' }], result: null } };
  standIn.meet(/^PUT /, error);
  await assert.rejects(deployWorker({ deploymentId: 'dep_2' }).publish(), { code: 'provider_down', message: /No such thing/ });
  standIn.meet(/upload-token/, error);
  await assert.rejects(deployPages({ deploymentId: 'dep_2' }).publish(), { code: 'provider_down', message: /No such thing/ });
});

test('after an answer to the last step that is not understood, what it created is found by its tag', async () => {
  const unreadable = [{ text: '<html>OK</html>' }, { text: '{"success": tr' }, { json: null }, { json: [] }, { json: {} }];
  for (const [n, answer] of unreadable.entries()) {
    const deploymentId = `dep_${n + 1}`;
    standIn.meet(/^PUT /, { after: { status: 200, ...answer } });
    const [version] = standIn.scripts.scripts.get('my-site')?.versions ?? [];
    const made = await deployWorker({ deploymentId }).publish();
    const versions = standIn.scripts.scripts.get('my-site')!.versions;
    assert.deepEqual([versions.length, version?.id === made], [n + 1, false], JSON.stringify(answer));
    standIn.meet(/^POST .*\/deployments$/, { after: { status: 200, ...answer } });
    await deployPages({ deploymentId }).publish();
    assert.equal(standIn.projects.deployments.length, n + 1, JSON.stringify(answer));
  }
});

test('a deployment of Pages is gone only when the list of the project does not have it either', async () => {
  const deployment = deployPages();
  const { access, abort } = deployment;
  const providerId = await deployment.publish();
  const state = () => pages.state(access, providerId, abort.signal);
  standIn.meet(/GET .*\/deployments\/[^/?]+$/, { status: 404, text: '<html>404</html>' });
  assert.notEqual((await state()).kind, 'failed', "a proxy's page");
  standIn.meet(/GET .*\/deployments\/[^/?]+$/, { status: 404, json: { success: false, errors: [], result: null } });
  assert.deepEqual(await state(), { kind: 'working', detail: 'it is listed, and not shown yet' });
  standIn.projects.deployments.length = 0;
  assert.equal((await state()).kind, 'failed');
});

test('a token is checked as a user token and then by its account', async () => {
  const identify = (credentials: Record<string, string>) => {
    const { access, abort } = deployWorker({ credentials: { token: goodToken, account_id: goodAccount, ...credentials } });
    return workers.identify(access, abort.signal);
  };
  await identify({});
  standIn.accountTokens.add('token-of-the-account');
  await identify({ token: 'token-of-the-account' });
  await assert.rejects(identify({ token: 'bad-token' }), { code: 'auth', message: /Invalid API Token/ });
  standIn.tokenStatus = 'expired';
  await assert.rejects(identify({}), { code: 'auth', message: /expired/ });
  standIn.meet(/verify/, { status: 400, json: { success: false, errors: [{ code: 6003, message: 'Invalid request headers' }] } });
  await assert.rejects(identify({ token: 'x' }), { code: 'auth', message: /Invalid request headers/ });
});

test('a deployment of Pages that is not live is deleted when it is cancelled, and one that is live stays', async () => {
  const deployment = deployPages();
  const { access, abort } = deployment;
  const providerId = await deployment.publish();
  assert.equal(await pages.find!(access, 'dep_1', abort.signal), providerId);
  await pages.state(access, providerId, abort.signal);
  await pages.cancel(access, providerId, abort.signal);
  assert.equal(standIn.projects.deployments.filter(({ isDeleted }) => isDeleted).length, 0);
  const next = await deployPages({ deploymentId: 'dep_2' }).publish();
  await pages.cancel(access, next, abort.signal);
  await pages.cancel(access, next, abort.signal);
  assert.deepEqual(
    standIn.projects.deployments.filter(({ isDeleted }) => !isDeleted).map(({ id }) => id),
    [providerId],
  );
});

function deploying(more: Pick<PublishingOptions, 'host'> & Partial<PublishingOptions>): Publishing {
  const credentials = { token: goodToken, account_id: goodAccount };
  return new Publishing({ outbound, apiUrl: standIn.apiUrl, credentials, deploymentId: 'dep_1', site, ...more });
}

function writes(): string[] {
  return standIn.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
}
