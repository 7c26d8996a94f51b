/** The hosts' own clients pass their scenario at our test servers: so an error in our reading of a protocol fails a test. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';
import { NetlifyAPI } from '@netlify/api';
import { createDeployment } from '@vercel/client';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { plainSite } from '../../../support/hosts/host-row.ts';
import { goodToken } from '../../../support/hosts/host-stand-in.ts';
import { HostWorld } from '../../../support/hosts/host-world.ts';
import { assertDescribed } from '../../../support/hosts/netlify-description.ts';
import { netlifyRow } from '../../../support/hosts/netlify-row.ts';
import { NetlifyStandIn } from '../../../support/hosts/netlify-stand-in.ts';
import { vercelRow } from '../../../support/hosts/vercel-row.ts';
import { VercelStandIn } from '../../../support/hosts/vercel-stand-in.ts';
import type { Json } from '../../../support/json.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let outbound: Outbound;
before(() => {
  outbound = createOutbound({ allow: ['127.0.0.0/8'] });
});
after(() => outbound.close());

test('@vercel/client deploys a folder at the test server for Vercel, sends only missing contents, and gets failures', async (t) => {
  const standIn = await VercelStandIn.start(t);
  standIn.quick = true;
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  for (const [path, content] of Object.entries(plainSite)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
  const deploy = async (token = goodToken) => {
    const events: Json[] = [];
    const options = { token, path: folder.path, apiUrl: standIn.apiUrl };
    for await (const event of createDeployment(options, { name: 'my-site', projectSettings: {}, target: 'production' })) events.push(event);
    return events;
  };
  const events = await deploy();
  assert.equal(events.at(-1).type, 'alias-assigned', JSON.stringify(events.at(-1)));
  assert.deepEqual(vercelRow.deployments(standIn)[0]!.files, plainSite);
  assert.equal(events.filter(({ type }) => type === 'file-uploaded').length, new Set(Object.values(plainSite)).size);
  const page = await fetch(`http://${events.at(-1).payload.url}/`);
  assert.equal(await page.text(), plainSite['index.html']);

  const again = await deploy();
  assert.deepEqual([again.at(-1).type, again.filter(({ type }) => type === 'file-uploaded').length], ['alias-assigned', 0]);
  standIn.next = 'build_fails';
  const failed = (await deploy()).at(-1);
  assert.deepEqual([failed.type, failed.payload.errorCode], ['error', 'BUILD_FAILED']);
  standIn.next = 'alias_fails';
  assert.equal((await deploy()).at(-1).payload.code, 'cert_missing');
  assert.equal((await deploy('unknown')).at(-1).payload.code, 'forbidden');
});

test("@vercel/client and Troupe's adapter create the same deployment at the test server for Vercel", async (t) => {
  const world = await HostWorld.start(vercelRow, outbound, t);
  const standIn = world.standIn as VercelStandIn;
  await world.end(await world.publish('dep_ours'));
  const [ours] = standIn.requestsOf(vercelRow.requests.create);
  // The parameters that the client sends too, by its own sources.
  const listed = (ours!.json.files as Json[]).map((file) => Object.keys(file).sort().join());
  assert.deepEqual([...new Set(listed)], ['file,sha,size']);
  assert.deepEqual(Object.keys(ours!.json).sort(), ['files', 'meta', 'name', 'projectSettings', 'target']);
  for (const { headers, bytes } of standIn.requestsOf(vercelRow.requests.upload)) {
    const digest = createHash('sha1').update(bytes).digest('hex');
    assert.deepEqual([headers['x-now-digest'], headers['content-type']], [digest, 'application/octet-stream']);
    assert.equal(headers['content-length'], String(bytes.length));
  }
});

test('@netlify/api creates a site, deploys by hashes, cancels and is refused at the test server for Netlify', async (t) => {
  const standIn = await NetlifyStandIn.start(t);
  const { host, pathname } = new URL(standIn.apiUrl);
  // Its types name each operation, but not what it answers.
  const client = (token: string): Json => new NetlifyAPI(token, { scheme: 'http', host, pathPrefix: pathname });
  const netlify = client(goodToken);
  assert.equal((await netlify.getCurrentUser()).email, 'a@example.com');
  const site = await netlify.createSite({ body: { name: 'my-site' } });
  assert.deepEqual(
    (await netlify.listSites({ name: 'my-site', filter: 'all' })).map(({ id }: Json) => id),
    [site.id],
  );
  assert.equal((await netlify.getSite({ siteId: site.id })).name, 'my-site');

  const hashOf = (content: string) => createHash('sha1').update(content).digest('hex');
  const files = Object.fromEntries(Object.entries(plainSite).map(([path, content]) => [path, hashOf(content)]));
  const made = await netlify.createSiteDeploy({ siteId: site.id, title: 'By hand', body: { files, async: true, draft: false } });
  const poll = () => netlify.getSiteDeploy({ siteId: site.id, deployId: made.id });
  assert.equal((await poll()).state, 'preparing');
  const prepared = await poll();
  assert.deepEqual([prepared.state, [...prepared.required].sort()], ['prepared', [...new Set(Object.values(files))].sort()]);
  for (const [path, content] of Object.entries(plainSite))
    if (prepared.required.includes(hashOf(content)))
      await netlify.uploadDeployFile({ deployId: made.id, path: encodeURI(path), body: () => content });
  for (let polls = 0; (await poll()).state !== 'ready'; polls += 1) assert.ok(polls < 5);
  const page = await fetch(`${(await netlify.getDeploy({ deployId: made.id })).ssl_url}/`);
  assert.equal(await page.text(), plainSite['index.html']);
  assert.equal((await netlify.listSiteDeploys({ siteId: site.id }))[0].title, 'By hand');

  standIn.next = 'none';
  const other = await netlify.createSiteDeploy({ siteId: site.id, body: { files: { 'a.txt': hashOf('a') }, async: true } });
  assert.equal((await netlify.cancelSiteDeploy({ deployId: other.id })).state, 'error');
  await assert.rejects(netlify.createSite({ body: { name: 'my-site' } }), { status: 422 });
  await assert.rejects(netlify.getSite({ siteId: 'none' }), { status: 404 });
  await assert.rejects(client('unknown').getCurrentUser(), { status: 401 });
  await netlify.deleteSite({ siteId: site.id });
  const seen = assertDescribed(standIn.requests);
  assert.ok(seen.has('uploadDeployFile') && seen.has('cancelSiteDeploy'));
});

test("Troupe's requests to Netlify, and the answers of the test server, match Netlify's own description", async (t) => {
  const world = await HostWorld.start(netlifyRow, outbound, t);
  const { signal } = new AbortController();
  await netlifyRow.host.identify(world.access, signal);
  const made = await world.publish('dep_ours');
  await world.end(made);
  await world.publish('dep_ours', world.site, { isRepeat: true });
  world.kept = {};
  await world.publish('dep_again', world.site, { isRepeat: true });
  await netlifyRow.host.cancel(world.access, made, signal);
  const seen = assertDescribed(world.standIn.requests);
  const expected = [
    'cancelSiteDeploy',
    'createSite',
    'createSiteDeploy',
    'getCurrentUser',
    'getDeploy',
    'getSite',
    'listSiteDeploys',
    'listSites',
  ];
  assert.deepEqual([...seen].sort(), [...expected, 'uploadDeployFile']);
});
