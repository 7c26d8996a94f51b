/** A check of the test server for Cloudflare: the vendor's own SDK makes the same deployments at it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import Cloudflare from 'cloudflare';
import { CloudflareStandIn, goodAccount } from '../../../support/hosts/cloudflare-stand-in.ts';
import { goodToken } from '../../../support/hosts/host-stand-in.ts';

const account = { account_id: goodAccount };
const contents: Record<string, string> = {
  '/index.html': '<h1>Hello</h1>',
  '/style.css': 'h1 { color: teal }',
  '/app.js': 'run()',
  '/a/b.txt': 'b',
};
const keyOf = (content: string) => createHash('sha256').update(content).digest('hex').slice(0, 32);
const base64 = (content: string) => Buffer.from(content).toString('base64');

test("the SDK of Cloudflare publishes a Worker with assets at the test server, and finds it by its version's tag", async (t) => {
  const standIn = await CloudflareStandIn.start(t);
  const sdk = clientOf(standIn);
  assert.equal((await sdk.user.tokens.verify()).status, 'active');
  await assert.rejects(clientOf(standIn, 'bad-token').user.tokens.verify(), { status: 401 });
  const manifest = Object.fromEntries(Object.entries(contents).map(([path, text]) => [path, { hash: keyOf(text), size: text.length }]));
  const session = await sdk.workers.scripts.assets.upload.create('site', { ...account, manifest });
  const byKey = new Map(Object.values(contents).map((text) => [keyOf(text), base64(text)]));
  const uploads = clientOf(standIn, session.jwt!);
  let completed: string | undefined;
  for (const bucket of session.buckets!) {
    const body = Object.fromEntries(bucket.map((key) => [key, byKey.get(key)!]));
    const uploaded = await uploads.workers.assets.upload.create({ ...account, base64: true, body });
    completed = uploaded.jwt ?? completed;
  }
  assert.ok(completed);
  const metadata = { assets: { jwt: completed }, annotations: { 'workers/tag': 'dep_1' }, compatibility_date: '2025-05-05' };
  const file = new File(['export default {}'], 'worker.js', { type: 'application/javascript+module' });
  // The SDK says application/javascript for what it sends as a form, unless the caller sets the type.
  await sdk.workers.scripts.update('site', { ...account, metadata, files: [file] }, { headers: { 'Content-Type': null } });
  assert.deepEqual(standIn.scripts.live!.get('/a/b.txt'), Buffer.from('b'));
  const again = await sdk.workers.scripts.assets.upload.create('site', { ...account, manifest });
  assert.deepEqual(again.buckets, []);
  const [newest] = (await sdk.workers.scripts.versions.list('site', account)).getPaginatedItems() as {
    annotations?: Record<string, string>;
  }[];
  assert.equal(newest!.annotations!['workers/tag'], 'dep_1');
  assert.equal((await sdk.workers.scripts.subdomain.create('site', { ...account, enabled: true })).enabled, true);
  assert.equal((await sdk.workers.subdomains.get(account)).subdomain, 'of-tests');
  await assert.rejects(sdk.workers.scripts.subdomain.get('other', account), { status: 404 });
});

test('the SDK of Cloudflare creates a project of Pages and a deployment at the test server, and reads its stages and log', async (t) => {
  const standIn = await CloudflareStandIn.start(t);
  const sdk = clientOf(standIn);
  await assert.rejects(sdk.pages.projects.get('site', account), { status: 404 });
  await sdk.pages.projects.create({ ...account, name: 'site', production_branch: 'main' });
  const { result } = await sdk.get<{ result: { jwt: string } }>(`/accounts/${goodAccount}/pages/projects/site/upload-token`);
  const uploads = clientOf(standIn, result.jwt);
  const hashes = Object.values(contents).map(keyOf);
  const missing = await uploads.post<{ result: string[] }>('/pages/assets/check-missing', { body: { hashes } });
  assert.deepEqual(missing.result, hashes);
  const payload = Object.values(contents).map((text) => ({
    ...{ key: keyOf(text), value: base64(text), metadata: { contentType: 'text/plain' }, base64: true },
  }));
  await uploads.post('/pages/assets/upload', { body: payload });
  await uploads.post('/pages/assets/upsert-hashes', { body: { hashes } });
  const manifest = JSON.stringify(Object.fromEntries(Object.entries(contents).map(([path, text]) => [path, keyOf(text)])));
  const made = await sdk.pages.projects.deployments.create('site', { ...account, manifest, commit_message: 'dep_1' });
  const found = await sdk.pages.projects.deployments.get(made.id, { ...account, project_name: 'site' });
  assert.deepEqual([found.latest_stage.name, found.latest_stage.status], ['deploy', 'success']);
  const listed = await sdk.pages.projects.deployments.list('site', account);
  assert.equal(listed.result[0]!.deployment_trigger.metadata.commit_message, 'dep_1');
  assert.deepEqual(standIn.projects.live!.get('/index.html'), Buffer.from(contents['/index.html']!));
  standIn.projects.lines = ['Done'];
  const log = await sdk.pages.projects.deployments.history.logs.get(made.id, { ...account, project_name: 'site' });
  assert.equal(log.data[0]!.line, 'Done');
});

function clientOf(standIn: CloudflareStandIn, apiToken = goodToken): Cloudflare {
  return new Cloudflare({ baseURL: standIn.apiUrl, apiToken, maxRetries: 0 });
}
