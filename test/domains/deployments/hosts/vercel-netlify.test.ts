/** Rules of Vercel or Netlify only, beside those for every host. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { DeployFailed } from '../../../../src/domains/deployments/hosts/host-failure.ts';
import { netlify } from '../../../../src/domains/deployments/hosts/netlify.ts';
import { vercel } from '../../../../src/domains/deployments/hosts/vercel.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { HostWorld } from '../../../support/hosts/host-world.ts';
import { netlifyRow } from '../../../support/hosts/netlify-row.ts';
import type { NetlifyStandIn } from '../../../support/hosts/netlify-stand-in.ts';
import { vercelRow } from '../../../support/hosts/vercel-row.ts';
import type { VercelStandIn } from '../../../support/hosts/vercel-stand-in.ts';
import type { Scope } from '../../../support/scope.ts';

let outbound: Outbound;
before(() => {
  outbound = createOutbound({ allow: ['127.0.0.0/8'] });
});
after(() => outbound.close());

const { signal } = new AbortController();

async function atVercel(t: Scope) {
  const world = await HostWorld.start(vercelRow, outbound, t);
  return { world, standIn: world.standIn as VercelStandIn };
}

async function atNetlify(t: Scope) {
  const world = await HostWorld.start(netlifyRow, outbound, t);
  return { world, standIn: world.standIn as NetlifyStandIn };
}

test('vercel: every request names the team, by its id or by its slug', async (t) => {
  for (const [team, name] of [
    ['team_abc', 'teamId'],
    ['acme', 'slug'],
  ] as const) {
    const { world, standIn } = await atVercel(t);
    const access = { ...world.access, team };
    const made = await world.publish('dep_1', world.site, { isRepeat: true }, access);
    await vercel.state(access, made, signal);
    await vercel.cancel(access, made, signal);
    assert.ok(standIn.requests.length >= 8);
    for (const { query, path } of standIn.requests) assert.equal(query.get(name), team, path);
  }
});

test('vercel: a deployment is always new, for production and served unchanged; a project can be given by its id', async (t) => {
  const { world, standIn } = await atVercel(t);
  await world.publish('dep_1', world.site, {}, { ...world.access, project: 'prj_abc', projectGiven: true });
  const [{ json, query }] = standIn.requestsOf(vercelRow.requests.create) as [(typeof standIn.requests)[0]];
  assert.deepEqual([json.target, json.project, json.meta], ['production', 'prj_abc', { troupe_deployment: 'dep_1' }]);
  assert.deepEqual([json.projectSettings.framework, json.projectSettings.buildCommand], [null, '']);
  assert.equal(query.get('forceNew'), '1');
});

test('vercel: a deployment is live at the address of production, and only with its alias, because its own address may require a sign-in', async (t) => {
  const { world, standIn } = await atVercel(t);
  const made = await world.publish('dep_1');
  const states = [];
  for (let polls = 0; polls < 4; polls += 1) states.push(await world.state(made));
  assert.deepEqual(
    states.map((state) => (state.kind === 'working' ? state.detail : state.kind)),
    ['queued', 'building', 'ready', 'live'],
  );
  standIn.distort = (json) => ({ ...json, url: 'my-site-abc123.vercel.app', alias: ['my-site.vercel.app'] });
  assert.deepEqual(await world.state(made), { kind: 'live', url: 'my-site.vercel.app' });
});

test('vercel: contents that stay missing temporarily are sent again, and unknown ones are a failure', async (t) => {
  const { world, standIn } = await atVercel(t);
  const missing = (hashes: string[]) => ({
    status: 400,
    json: { error: { code: 'missing_files', message: 'Missing files', missing: hashes } },
  });
  standIn.meet(vercelRow.requests.create, missing(['f'.repeat(40)]));
  const failed = await world.publish('dep_1').catch((error: unknown) => error);
  assert.ok(failed instanceof DeployFailed && failed.code === 'provider_down', `${failed}`);
  assert.match(failed.message, /Missing files/);
  const hash = (await world.publication('dep_2', world.site).sha1())[0]!;
  standIn.meet(vercelRow.requests.create, missing([hash]), missing([hash]));
  await world.publish('dep_2');
  assert.equal(standIn.deployments.length, 1);
  for (let rounds = 0; rounds < 9; rounds += 1) standIn.meet(vercelRow.requests.create, missing([hash]));
  await assert.rejects(world.publish('dep_3'), DeployFailed);
  assert.equal(standIn.deployments.length, 1);
});

test('netlify: a site is created once for a configuration, although answers are lost', async (t) => {
  for (const fault of ['lost', 'cut', { after: { status: 502, text: '' } }] as const) {
    const { world, standIn } = await atNetlify(t);
    standIn.meet(/^POST \/api\/v1\/sites$/, fault);
    await world.publish('dep_1');
    await world.publish('dep_2');
    assert.deepEqual([standIn.sites.size, standIn.deploys.length], [1, 2]);
    assert.deepEqual(world.kept, { site_id: [...standIn.sites.keys()][0] });
  }
});

test('netlify: a stored site that was deleted there is replaced by one new site', async (t) => {
  const { world, standIn } = await atNetlify(t);
  await world.publish('dep_1');
  const [old] = standIn.sites.keys();
  standIn.sites.delete(old!);
  await Promise.all([world.publish('dep_cccccccccccc'), world.publish('dep_dddddddddddd')]);
  await world.publish('dep_2');
  assert.deepEqual([...standIn.sites.keys()], [world.kept.site_id]);
  assert.deepEqual(new Set(standIn.deploys.slice(1).map(({ siteId }) => siteId)), new Set([world.kept.site_id]));
  standIn.sites.delete(world.kept.site_id!);
  standIn.sites.set('made-by-hand', 'our-name');
  await world.publish('dep_3', world.site, {}, { ...world.access, project: 'our-name', projectGiven: true });
  assert.deepEqual([standIn.deploys.at(-1)!.siteId, world.kept.site_id], ['made-by-hand', 'made-by-hand']);
});

test('netlify: a crash between creating the site and storing its id leaves no second site', async (t) => {
  const { world, standIn } = await atNetlify(t);
  const dying = { ...world.publication('dep_1', world.site), keep: () => Promise.reject(new Error('crash')) };
  await assert.rejects(netlify.publish(world.access, dying), /crash/);
  await world.publish('dep_1', world.site, { isRepeat: true });
  assert.equal(standIn.sites.size, 1);
});

test('netlify: two concurrent first deployments of a configuration use one site, and no other site remains', async (t) => {
  const { world, standIn } = await atNetlify(t);
  await Promise.all([world.publish('dep_aaaaaaaaaaaa'), world.publish('dep_bbbbbbbbbbbb')]);
  assert.deepEqual([...standIn.sites.keys()], [world.kept.site_id]);
  assert.deepEqual(new Set(standIn.deploys.map(({ siteId }) => siteId)), new Set([world.kept.site_id]));
});

test("netlify: a given project is a site by its id or its name; an unknown one is refused with Netlify's text", async (t) => {
  for (const project of ['site-of-ours', 'our-name']) {
    const { world, standIn } = await atNetlify(t);
    standIn.sites.set('site-of-ours', 'our-name').set('site-of-others', 'our-name-too');
    const access = { ...world.access, project, projectGiven: true };
    const made = await world.publish('dep_1', world.site, {}, access);
    assert.equal(await netlify.find!(access, 'dep_1', signal), made);
    assert.deepEqual([standIn.deploys[0]!.siteId, standIn.sites.size], ['site-of-ours', 2]);
  }
  const { world, standIn } = await atNetlify(t);
  const failed = await world
    .publish('dep_1', world.site, {}, { ...world.access, project: 'nothing', projectGiven: true })
    .catch((error) => error);
  assert.match(`${failed}`, /DeployFailed: Netlify answered 404: Not Found/);
  assert.equal(standIn.sites.size, 0);
});

test('netlify: the site of a team is created in the team, and a name with # or ? is bad_name', async (t) => {
  const { world, standIn } = await atNetlify(t);
  await world.publish('dep_1', world.site, {}, { ...world.access, team: 'acme' });
  assert.equal(standIn.requestsOf(/^POST \/api\/v1\/acme\/sites$/).length, 1);
  for (const path of ['a#b.html', 'a/b?.html']) assert.match(netlify.limits.badName!(path)!, /# or \?/);
});

test('netlify: contents required during and after the comparison of hashes are sent once each', async (t) => {
  const { world, standIn } = await atNetlify(t);
  const hashes = [...new Set(await world.publication('dep_1', world.site).sha1())];
  let polls = 0;
  standIn.distort = (json) => {
    if (json.state === 'preparing') return { ...json, required: [hashes[0]] };
    polls += 1;
    return polls === 1 ? { ...json, required: hashes } : json;
  };
  await world.end(await world.publish('dep_1'));
  assert.equal(standIn.uploads.length, hashes.length);
});

test('after an outage a server without a list of deployments gets the creation again', async (t) => {
  for (const { world, standIn } of [await atVercel(t), await atNetlify(t)]) {
    standIn.meet(world.row.requests.create, { status: 500, text: '' });
    for (const list of [/^GET \/v6\/deployments$/, /^GET .*\/deploys$/]) standIn.meet(list, { status: 404, text: 'No such path' });
    assert.equal((await world.end(await world.publish('dep_1'))).kind, 'live', world.row.name);
  }
});
