/** The steps of a deployment at a scripted host, observed over HTTP. One runtime for all tests. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { deployConfigs } from '../../../../src/domains/deployments/configs/messages.ts';
import { deployment } from '../../../../src/domains/deployments/deployment/messages.ts';
import type { HostState } from '../../../../src/domains/deployments/hosts/host.ts';
import { DeployFailed } from '../../../../src/domains/deployments/hosts/host-failure.ts';
import { workers } from '../../../../src/domains/deployments/hosts/workers.ts';
import { DeploymentStats } from '../../../../src/domains/deployments/metrics.ts';
import { unneededSnapshots } from '../../../../src/domains/deployments/snapshot/unneeded-snapshots.ts';
import { AppError } from '../../../../src/errors.ts';
import { newId } from '../../../../src/ids.ts';
import { type DeploymentWorld, deploymentWorld } from '../../../support/deployment-world.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { ScriptedDeployHost } from '../../../support/scripted-deploy-host.ts';
import { until } from '../../../support/until.ts';

let world: DeploymentWorld;
const ends: (() => unknown)[] = [];
before(async () => {
  world = await deploymentWorld({ after: (end) => void ends.push(end) }, { probeMs: 1_500, secondSearchMs: 10_000 });
  await world.configure();
});
after(async () => {
  for (const end of ends.reverse()) await end();
});
beforeEach(() => {
  const { host, site } = world;
  host.states = [{ kind: 'live', url: site.url }];
  host.at = () => {};
  for (const list of [host.made, host.uploads, host.cancelled, host.moments]) list.length = 0;
  site.status = 200;
});

/** Resolves when the host reaches this step; the host continues when `go` is called. */
function holdAt(moment: string): { reached: Promise<void>; go(): void } {
  const reached = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  world.host.at = async (at) => {
    if (at !== moment) return;
    reached.resolve();
    await going.promise;
  };
  return { reached: reached.promise, go: () => going.resolve() };
}

async function unnamedSnapshots(): Promise<number> {
  const text = 'select count(*)::int as n from snapshot s where not exists (select from deployment d where d.snapshot_id = s.id)';
  return (await world.runtime.sql(text))[0].n;
}

test('a deployment is pending, building, deploying and live, with one event each, and the host has the files of its creation', async () => {
  const workspace = await world.workspace({ 'index.html': 'one', 'about/index.html': 'about' });
  const hold = holdAt('begin');
  const { status, json } = await world.send('POST', '/v1/deployments', { workspace_id: workspace, target: 'vercel' });
  assert.equal((await world.actors.ask(deployment, json.id, 'create', {} as never)).config, null, 'no reply holds credentials');
  assert.deepEqual([status, json.status, json.url, json.error, json.completed_at], [201, 'pending', null, null, null]);
  await world.write(workspace, 'index.html', 'two');
  await hold.reached;
  hold.go();
  const row = await world.ended(json.id);
  assert.deepEqual(
    [row.status, row.url, row.providerId, row.config, row.files, row.bytes],
    ['live', world.site.url, 'at-host-1', null, 2, 8],
  );
  assert.deepEqual(Object.fromEntries(world.host.made[0]!.files!), { 'index.html': 'one', 'about/index.html': 'about' });
  assert.deepEqual(world.events(json.id), ['building', 'deploying', 'live']);
  assert.deepEqual(
    world.eventsOf(json.id).map(({ shown }) => [shown.status, shown.url]),
    [
      ['building', null],
      ['deploying', null],
      ['live', world.site.url],
    ],
  );
  const stats = new DeploymentStats();
  stats.committed(world.runtime.events);
  assert.equal(stats.ended.read().find(({ labels }) => labels!.target === 'vercel' && labels!.outcome === 'live')!.value, 1);
  const shown = (await world.send('GET', `/v1/deployments/${json.id}`)).json;
  assert.deepEqual([shown.status, shown.url, shown.provider_id], ['live', world.site.url, 'at-host-1']);
  assert.deepEqual((await world.send('POST', `/v1/deployments/${json.id}/cancel`)).status, 409);
});

test('the log has the lines of all parts in order, without credentials, by GET and by events', async () => {
  const id = await world.deploy({ workspace_id: await world.workspace() });
  await world.ended(id);
  const { json } = await world.send('GET', `/v1/deployments/${id}/logs`);
  assert.ok(
    json.data.some(({ source, text }: { source: string; text: string }) => source === 'provider' && text === 'It has 1 files of [masked]'),
  );
  assert.deepEqual([json.total, json.has_more], [json.data.length, false]);
  const part = (await world.send('GET', `/v1/deployments/${id}/logs?limit=1&offset=1`)).json;
  assert.deepEqual(part, { data: [json.data[1]], has_more: true, total: json.total });
  const logs = world.runtime.events.filter(({ type }) => type === 'deployment.log').map(({ data }) => JSON.parse(data.text));
  const lines = logs.filter((one) => one.deployment_id === id).flatMap((one) => one.lines);
  assert.deepEqual(lines, json.data);
});

test('a test key publishes nothing and gets a preview, with the same events and without a configuration', async () => {
  const id = await world.deploy({ workspace_id: await world.workspace() }, 'test');
  const row = await world.ended(id);
  assert.deepEqual([row.status, row.config, world.host.moments], ['live', null, []]);
  assert.deepEqual(world.events(id), ['building', 'deploying', 'live']);
  assert.equal(world.eventsOf(id)[2]!.shown.url, `https://troupe.test/preview/${id}/`);
  assert.equal((await world.send('GET', `/v1/deployments/${id}`)).status, 404);
  const listed = (await world.send('GET', '/v1/deployments', undefined, `${world.accountId} test`)).json;
  assert.deepEqual([listed.total, listed.data[0].id, listed.data[0].mode], [1, id, 'test']);
});

test('a workspace without files, of another account, or a configuration of another target or account is refused before anything begins', async () => {
  const post = async (body: object) => {
    const { status, json } = await world.send('POST', '/v1/deployments', { target: 'vercel', ...body });
    return status === 422 ? json.detail[0].loc : status;
  };
  const workspace = await world.workspace();
  assert.deepEqual(await post({ workspace_id: await world.workspace({}) }), ['body', 'workspace_id']);
  assert.equal(await post({ workspace_id: newId('ws_', null) }), 404);
  assert.equal(await post({ workspace_id: workspace, config_id: newId('cfg_', null) }), 404);
  const netlify = await world.configure({ target: 'netlify' });
  assert.deepEqual(await post({ workspace_id: workspace, config_id: netlify.id }), ['body', 'config_id']);
  assert.deepEqual(await post({ workspace_id: workspace, target: 'expo' }), ['body', 'target']);
  assert.equal(
    (
      await world.runtime.sql(
        'select count(*)::int as n from snapshot s where not exists (select from deployment d where d.snapshot_id = s.id)',
      )
    )[0].n,
    0,
  );
});

test('without builds, a configuration with a build command is refused with the reason', async () => {
  const { id } = await world.configure({ buildCommand: 'make', name: 'built' });
  const { status, json } = await world.send('POST', '/v1/deployments', {
    ...{ workspace_id: await world.workspace(), target: 'vercel', config_id: id },
  });
  assert.deepEqual([status, json.detail], [409, 'No builds here']);
  const empty = { workspace_id: await world.workspace({}), target: 'vercel', config_id: id };
  assert.equal((await world.send('POST', '/v1/deployments', empty)).status, 422, 'the body is checked first');
  assert.equal(await unnamedSnapshots(), 0);
  await world.actors.ask(deployConfigs, world.accountId, 'remove', { id });
});

test('files that the host would refuse are found before anything is sent', async () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`${i}.html`, 'x']));
  for (const [content, code] of [
    [many, 'too_many_files'],
    [{ 'large.html': 'x'.repeat(1_001) }, 'file_too_large'],
    [{ 'a#b.html': 'x' }, 'bad_name'],
  ] as const) {
    const id = await world.deploy({ workspace_id: await world.workspace(content) });
    const row = await world.ended(id);
    assert.deepEqual([row.status, row.errorCode], ['failed', code]);
    assert.deepEqual(world.events(id), ['building', 'failed']);
  }
  assert.deepEqual(world.host.moments, []);
});

test('20,001 files and a file of 26 MiB fail at the limits of Cloudflare before anything is sent', async (t) => {
  const { limits } = world.host.host;
  t.after(() => Object.assign(world.host.host, { limits }));
  Object.assign(world.host.host, { limits: workers.limits });
  const deployed = async (files: number, sizeBytes: number) => {
    const id = await world.workspace({});
    // Only their rows: contents are read after this check.
    await world.runtime.sql(
      `insert into workspace_file (id, workspace_id, account_id, name, type, size_bytes, sha256, version, generation, content_key, status, created_at)
        select 'wsf_' || $1 || n, $1, $2, n || '.html', 'text/html', $3, lpad('', 64, '0'), 0, 0, 'ws/file/' || n, 'present', now()
        from generate_series(1, $4::int) n`,
      [id, world.accountId, sizeBytes, files],
    );
    const { status, errorCode, errorMessage } = await world.ended(await world.deploy({ workspace_id: id }));
    return [status, errorCode, errorMessage];
  };
  assert.deepEqual(await deployed(20_001, 1), ['failed', 'too_many_files', 'Scripted takes at most 20000 files; there are 20001']);
  assert.deepEqual(await deployed(1, 26 * 2 ** 20), [
    ...['failed', 'file_too_large'],
    `Scripted takes files of at most ${25 * 2 ** 20} bytes; 1.html has ${26 * 2 ** 20}`,
  ]);
  assert.deepEqual(world.host.moments, []);
});

test('without a build, output_dir names the folder that is published', async () => {
  const { id } = await world.configure({ outputDir: 'public', name: 'a folder' });
  const published = await world.ended(
    await world.deploy({ workspace_id: await world.workspace({ 'public/index.html': 'x', 'notes.html': 'y' }), config_id: id }),
  );
  assert.deepEqual([published.status, published.files], ['live', 1]);
  assert.deepEqual(Object.fromEntries(world.host.made[0]!.files!), { 'index.html': 'x' });
  const failed = await world.ended(await world.deploy({ workspace_id: await world.workspace(), config_id: id }));
  assert.deepEqual([failed.errorCode, failed.status], ['build_failed', 'failed']);
  await world.actors.ask(deployConfigs, world.accountId, 'remove', { id });
});

test('failures of the host keep its code, its text without the token, and its id', async () => {
  world.host.at = (moment) => {
    if (moment === 'stored') throw new DeployFailed('quota', 'no more for secret-token');
  };
  const refused = await world.ended(await world.deploy({ workspace_id: await world.workspace() }));
  assert.deepEqual([refused.errorCode, refused.errorMessage, refused.providerId], ['quota', 'no more for [masked]', 'at-host-1']);
  await until(() => world.host.cancelled.length === 1, 'the cancellation of what was left');
  world.host.at = () => {};
  world.host.states = [{ kind: 'failed', code: 'alias_failed', message: 'no alias' }];
  const aliasless = await world.ended(await world.deploy({ workspace_id: await world.workspace() }));
  assert.deepEqual([aliasless.errorCode, aliasless.errorMessage, aliasless.config], ['alias_failed', 'no alias', null]);
  assert.equal(world.host.cancelled.length, 1);
});

test('a site that does not answer fails as probe_failed with the id at the host; a custom address is probed instead of the host’s', async () => {
  world.site.status = 404;
  const requests = world.site.requests;
  const unanswered = await world.ended(await world.deploy({ workspace_id: await world.workspace() }));
  assert.deepEqual([unanswered.status, unanswered.errorCode, unanswered.providerId], ['failed', 'probe_failed', 'at-host-1']);
  assert.match(unanswered.errorMessage!, /404/);
  assert.equal(world.site.requests - requests, 2, 'the last request begins when the time is over');
  assert.deepEqual(world.host.cancelled, []);
  world.site.status = 301;
  world.host.states = [{ kind: 'live', url: 'site.example.invalid' }];
  const { id } = await world.configure({ url: `${world.site.url}/own`, name: 'own address' });
  const live = await world.ended(await world.deploy({ workspace_id: await world.workspace(), config_id: id }));
  assert.deepEqual([live.status, live.url], ['live', `${world.site.url}/own`]);
  await world.actors.ask(deployConfigs, world.accountId, 'remove', { id });
});

test('the host is polled until the site is live, and each of its messages is in the log once', async () => {
  world.host.states = [
    { kind: 'working', detail: 'QUEUED' },
    { kind: 'live', url: world.site.url },
  ];
  const id = await world.deploy({ workspace_id: await world.workspace() });
  await until(async () => (await world.row(id)).step === 'poll' && (await world.row(id)).effectId === null, 'the first answer');
  world.clock.move(1_000);
  world.runtime.runtime.timers.fireDue();
  assert.equal((await world.ended(id)).status, 'live');
  assert.equal((await world.lines(id)).filter((line) => line === 'The host: QUEUED').length, 1);
});

test('a cancelled deployment is failed at once, and the host is asked to end it', async () => {
  for (const moment of ['begin', 'made', 'stored', 'finished', 'state']) {
    world.host.made.length = 0;
    world.host.cancelled.length = 0;
    const hold = holdAt(moment);
    const id = await world.deploy({ workspace_id: await world.workspace() });
    await hold.reached;
    const { status, json } = await world.send('POST', `/v1/deployments/${id}/cancel`);
    assert.deepEqual([status, json.status, json.error.code], [200, 'failed', 'cancelled'], moment);
    hold.go();
    await until(async () => (await world.row(id)).config === null, 'the end of all of it');
    assert.deepEqual(
      world.host.cancelled,
      world.host.made.map((made) => made.id),
      moment,
    );
    assert.deepEqual(world.events(id), ['building', 'deploying', 'failed'], moment);
    assert.equal((await world.send('POST', `/v1/deployments/${id}/cancel`)).status, 409);
    assert.deepEqual(await world.runtime.sql('select id from effect where actor_id = $1', [id]), []);
    assert.deepEqual(await world.runtime.sql(`select name from timer where actor_id = $1 and name <> 'second look'`, [id]), []);
  }
});

test('the log of a cancelled deployment tells whether the host had published it already', async () => {
  const ends: [HostState | DeployFailed, string][] = [
    [{ kind: 'live', url: world.site.url }, 'The host had published it already: visitors see it until another deployment replaces it'],
    [{ kind: 'failed', code: 'cancelled', message: 'It was cancelled there' }, 'The host was asked to cancel it'],
    [new DeployFailed('provider_down', 'It is unknown there'), 'The host was asked to cancel it'],
  ];
  for (const [state, line] of ends) {
    world.host.states = [state];
    const hold = holdAt('finished');
    const id = await world.deploy({ workspace_id: await world.workspace() });
    await hold.reached;
    await world.send('POST', `/v1/deployments/${id}/cancel`);
    hold.go();
    await until(async () => (await world.row(id)).config === null, 'the end of all of it');
    assert.equal((await world.lines(id)).at(-1), line);
  }
});

test('a temporary failure of a part of this service fails no deployment, and nothing is created or sent twice', async () => {
  const away = new Set(['begin', 'made', 'stored', 'uploaded', 'finished', 'state']);
  world.host.at = (moment) => {
    if (away.delete(moment)) throw new AppError('unavailable', 'The database does not answer; try again shortly');
  };
  const row = await world.ended(await world.deploy({ workspace_id: await world.workspace({ 'index.html': 'patience' }) }));
  assert.deepEqual([row.status, away.size, world.host.made.length, world.host.uploads.length], ['live', 0, 1, 1]);
});

test('a deployment that the host creates after the search for it is removed later, and the log reports it', async () => {
  const searchAgain = async (id: string) => {
    world.host.made.push({ id: `late of ${id}`, tag: id, files: null });
    world.clock.move(10_001);
    world.runtime.runtime.timers.fireDue();
    await until(async () => (await world.lines(id)).some((line) => line.includes(`late of ${id}`)), 'the second search');
  };
  let isAway = true;
  world.host.at = (moment) => {
    if (moment !== 'made' || !isAway) return;
    isAway = false;
    throw new AppError('unavailable', 'The database does not answer; try again shortly');
  };
  const live = await world.deploy({ workspace_id: await world.workspace() });
  assert.equal((await world.ended(live)).status, 'live');
  await searchAgain(live);
  assert.deepEqual([world.host.made.map(({ id }) => id), (await world.row(live)).providerId], [['at-host-1'], 'at-host-1']);
  world.host.made.length = 0;
  const hold = holdAt('begin');
  const cancelled = await world.deploy({ workspace_id: await world.workspace() });
  await hold.reached;
  await world.send('POST', `/v1/deployments/${cancelled}/cancel`);
  hold.go();
  await until(async () => (await world.row(cancelled)).config === null, 'the end of all of it');
  assert.deepEqual(world.host.made, []);
  await searchAgain(cancelled);
  assert.deepEqual(world.host.made, []);
  const quiet = await world.deploy({ workspace_id: await world.workspace() });
  await world.ended(quiet);
  assert.deepEqual(
    await world.runtime.sql('select name from timer where actor_id = $1', [quiet]),
    [],
    'without a outcomeUnknown nothing is asked',
  );
});

test('a deployment ends with the configuration that it began with, although it is deleted meanwhile', async () => {
  const { id: configId } = await world.configure();
  const hold = holdAt('made');
  const id = await world.deploy({ workspace_id: await world.workspace(), config_id: configId });
  await hold.reached;
  await world.actors.ask(deployConfigs, world.accountId, 'remove', { id: configId });
  hold.go();
  const row = await world.ended(id);
  assert.deepEqual([row.status, row.configId, world.host.made.length], ['live', configId, 1]);
});

test('an account has at most 200 deployments under way', async () => {
  const { accountId, runtime } = world;
  const ids = Array.from({ length: 200 }, () => newId('dep_', accountId));
  for (const id of ids)
    await insertNeutralRow(runtime.database, 'deployment', { id, account_id: accountId, mode: 'live', status: 'pending' });
  const { status } = await world.send('POST', '/v1/deployments', { workspace_id: await world.workspace(), target: 'vercel' });
  assert.equal(status, 429);
  await runtime.sql('delete from deployment where id = any($1)', [ids]);
  assert.equal((await world.ended(await world.deploy({ workspace_id: await world.workspace() }))).status, 'live');
});

test('a deployment beyond its time limit fails as timed_out and is cancelled at the host', async () => {
  world.host.states = [{ kind: 'working', detail: 'QUEUED' }];
  const id = await world.deploy({ workspace_id: await world.workspace() });
  await until(async () => (await world.row(id)).step === 'poll', 'the poll');
  await world.actors.ask(deployment, id, 'timedOut', {});
  assert.deepEqual([(await world.row(id)).errorCode, (await world.row(id)).status], ['timed_out', 'failed']);
  await until(() => world.host.cancelled.length === 1, 'the cancellation at the host');
});

test('redeploying publishes the files of the earlier deployment with the current configuration, and sends no content again', async () => {
  const workspace = await world.workspace({ 'index.html': 'an early state' });
  const first = await world.deploy({ workspace_id: workspace });
  await world.ended(first);
  await world.write(workspace, 'index.html', 'a later state');
  const { status, json } = await world.send('POST', `/v1/deployments/${first}/redeploy`);
  assert.equal(status, 201);
  assert.equal((await world.ended(json.id)).status, 'live');
  assert.equal(world.host.made[1]!.files!.get('index.html'), 'an early state');
  assert.equal(world.host.uploads.length, 1);
  const { id } = await world.configure({ target: 'netlify', name: 'gone' });
  const gone = await world.send('POST', '/v1/deployments', { workspace_id: workspace, target: 'netlify', config_id: id });
  await world.ended(gone.json.id);
  for (const one of await world.actors.query(deployConfigs, world.accountId, 'list', { mode: 'live' }))
    if (one.target === 'netlify') await world.actors.ask(deployConfigs, world.accountId, 'remove', { id: one.id });
  assert.equal((await world.send('POST', `/v1/deployments/${gone.json.id}/redeploy`)).status, 409);
});

test('files are kept until 30 days after a deployment has ended, and those of the live one until 30 days after a newer one is live', async () => {
  const { id: configId } = await world.configure({ name: 'kept' });
  const { runtime } = world;
  const workspace = await world.workspace();
  const [old, newest] = [
    await world.deploy({ workspace_id: workspace, config_id: configId }),
    await world.deploy({ workspace_id: workspace }, 'test'),
  ];
  const rows = [await world.ended(old), await world.ended(newest)];
  const sweep = () => unneededSnapshots(world.clock).runBatch(1_000, runtime.database.pool as never);
  const age = (id: string, days: number) =>
    runtime.sql(`update deployment set completed_at = now() - interval '${days} days' where id = $1`, [id]);
  const kept = async () =>
    (await runtime.sql('select id from snapshot where id = any($1) order by id', [rows.map(({ snapshotId }) => snapshotId)])).length;
  const refused = await world.ended(await world.deploy({ workspace_id: await world.workspace({ 'a#b.html': 'x' }) }));
  await runtime.sql(`update snapshot set created_at = now() - interval '99 days'`);
  await sweep();
  assert.deepEqual(
    await runtime.sql('select id from snapshot where id = $1', [refused.snapshotId]),
    [],
    'what was refused is not published again',
  );
  assert.equal(await kept(), 2, 'both have just ended');
  await age(old, 99);
  await age(newest, 31);
  await sweep();
  assert.equal(await kept(), 1, 'a preview is gone after 30 days; the site that is live stays');
  const later = await world.ended(await world.deploy({ workspace_id: workspace, config_id: configId }));
  await sweep();
  assert.equal(await kept(), 1);
  await age(later.id, 31);
  await sweep();
  assert.equal(await kept(), 0);
  const { status, json } = await world.send('POST', `/v1/deployments/${old}/redeploy`);
  assert.deepEqual([status, json.detail], [409, 'The files of this deployment are not kept any more']);
  await world.actors.ask(deployConfigs, world.accountId, 'remove', { id: configId });
});

test('after a kill at any time the deployment continues: one deployment at the host, each file sent once, one event for each status', async () => {
  const killed = await deploymentWorld({ after: (end) => void ends.push(end) });
  await killed.configure();
  const { host } = killed;
  assert.ok(host instanceof ScriptedDeployHost);
  for (const moment of ['begin', 'made', 'stored', 'uploaded', 'finished', 'state'] as const) {
    for (const list of [host.made, host.uploads, host.cancelled]) list.length = 0;
    const reached = Promise.withResolvers<void>();
    const dead = Promise.withResolvers<void>();
    host.at = async (at) => {
      if (at !== moment) return;
      reached.resolve();
      await dead.promise;
    };
    const id = await killed.deploy({ workspace_id: await killed.workspace({ 'a.html': `a ${moment}`, 'b.html': `b ${moment}` }) });
    await reached.promise;
    host.at = () => {};
    await killed.runtime.crashAndRestart();
    dead.reject(new Error('It was killed'));
    assert.equal((await killed.ended(id)).status, 'live', moment);
    assert.deepEqual([host.made.length, host.uploads.length, host.cancelled.length], [1, 2, 0], moment);
    assert.deepEqual(killed.events(id), ['building', 'deploying', 'live'], moment);
  }
});

test('a step that another node has done meanwhile stops where it begins, and touches nothing at the host', async () => {
  const workspace = await world.workspace({ 'index.html': 'one' });
  const id = await world.deploy({ workspace_id: workspace });
  const { status } = await world.ended(id);
  assert.equal(status, 'live');
  const before = structuredClone(world.host.moments);
  const { signal } = new AbortController();
  const context = { actorId: id, effectId: newId('eff_', null), isRepeat: true, signal, releaseSlot: () => {} };
  const { prepare, build, publish, poll, probe, cancelAtHost, removeCopies } = world.effects;
  for (const run of [
    () => prepare({}, context),
    () => build({}, context),
    () => publish({}, context),
    () => poll({ polls: 0, detail: '' }, context),
    () => probe({ url: world.site.url, untilMs: world.clock.nowMs() + 1_000 }, context),
    () => cancelAtHost({}, context),
    () => removeCopies({}, context),
  ])
    await assert.rejects(run, { code: 'conflict', message: 'The deployment goes on without this step' });
  assert.deepEqual(world.host.moments, before);
});
