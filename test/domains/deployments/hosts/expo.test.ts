import assert from 'node:assert/strict';
import test, { after, before, beforeEach } from 'node:test';
import { removeCopies } from '../../../../src/domains/deployments/deployment/remove-copies.ts';
import { expo } from '../../../../src/domains/deployments/hosts/expo.ts';
import { masked } from '../../../../src/domains/deployments/hosts/mask.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { exportedApp } from '../../../support/hosts/expo-row.ts';
import { ExpoStandIn } from '../../../support/hosts/expo-stand-in.ts';
import { goodToken } from '../../../support/hosts/host-stand-in.ts';
import { Publishing, type PublishingOptions } from '../../../support/hosts/publishing.ts';
import type { Json } from '../../../support/json.ts';

const bundlesOfTwo = { ios: { bundle: 'ios.js', assets: [] }, android: { bundle: 'android.js', assets: [] } };
/** Each platform has its own runtime version, so its updates are two groups. */
const twoVersions = {
  ...{ 'ios.js': 'ios()', 'android.js': 'android()' },
  'metadata.json': JSON.stringify({ version: 0, bundler: 'metro', fileMetadata: bundlesOfTwo }),
  'expoConfig.json': JSON.stringify({ ios: { runtimeVersion: 'i1' }, android: { runtimeVersion: 'a1' } }),
};

const ends: (() => unknown)[] = [];
let standIn: ExpoStandIn;
let outbound: Outbound;

before(() => {
  outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  ends.push(() => outbound.close());
});
beforeEach(async () => {
  standIn = await ExpoStandIn.start({ after: (end) => void ends.push(end) });
});
after(async () => {
  for (const end of ends) await end();
});

test('an export is published to the channel production, with the public part of its configuration', async () => {
  const deployment = deploying();
  const group = await deployment.publish();
  const [update] = standIn.published;
  assert.deepEqual([standIn.channels, standIn.branches, standIn.published.length], [['production'], ['production'], 1]);
  assert.deepEqual([update!.platform, update!.runtimeVersion, update!.group], ['ios', '1.2.0', group]);
  const url = `https://expo.dev/accounts/acme/projects/my-site/updates/${group}`;
  assert.deepEqual(await expo.state(deployment.access, group, deployment.abort.signal), { kind: 'live', url });
  assert.deepEqual(update!.manifest.extra, { expoClient: { slug: 'my-site', runtimeVersion: '1.2.0' } });
  assert.deepEqual(
    [update!.manifest.launchAsset.fileExtension, update!.manifest.launchAsset.contentType],
    ['.js', 'application/javascript'],
  );
  assert.deepEqual([update!.manifest.assets[0]!.fileExtension, update!.manifest.assets[0]!.contentType], ['.png', 'image/png']);
  for (const { headers } of standIn.requestsOf(/storage/))
    assert.equal(headers.authorization, undefined, 'the storage does not get the token');
});

test('two platforms with different runtime versions are two groups, which a repeat finds and a cancellation deletes', async () => {
  const bundles = { 'bundles/ios.js': 'ios()', 'bundles/android.js': 'android()' };
  const fileMetadata = { ios: { bundle: 'bundles/ios.js', assets: [] }, android: { bundle: 'bundles/android.js', assets: [] } };
  const config = { version: '3.0.0', ios: { runtimeVersion: 'i1' }, runtimeVersion: { policy: 'appVersion' } };
  const site = {
    ...bundles,
    'metadata.json': JSON.stringify({ version: 0, bundler: 'metro', fileMetadata }),
    'expoConfig.json': JSON.stringify(config),
  };
  const providerId = await deploying({ site }).publish();
  assert.deepEqual(standIn.published.map(({ platform, runtimeVersion }) => [platform, runtimeVersion]).sort(), [
    ['android', '3.0.0'],
    ['ios', 'i1'],
  ]);
  const { access, abort } = deploying();
  assert.equal(await deploying({ site }).publish(true), providerId);
  assert.equal(await expo.find!(access, 'dep_1', abort.signal), providerId);
  await expo.cancel(access, providerId, abort.signal);
  await expo.cancel(access, providerId, abort.signal);
  assert.equal(standIn.deleted.size, 2);
  assert.equal((await expo.state(access, providerId, abort.signal)).kind, 'failed');
});

test('groups that Expo publishes after they were searched for are deleted later; those that are known stay', async () => {
  const { access, abort } = deploying();
  const late = await deploying({ site: twoVersions }).publish();
  const providerId = await deploying({ site: twoVersions }).publish();
  const known = { id: 'dep_1', providerId };
  const removed = late.split(',');
  const result = await removeCopies(masked(expo), access, known, abort.signal);
  assert.deepEqual({ ...result, removed: result.removed.toSorted() }, { kind: 'looked', kept: providerId, removed: removed.toSorted() });
  assert.deepEqual([...standIn.deleted].sort(), removed.toSorted());
  assert.deepEqual((await removeCopies(masked(expo), access, known, abort.signal)).removed, []);
  const all = await removeCopies(masked(expo), access, { ...known, providerId: null }, abort.signal);
  assert.deepEqual({ ...all, removed: all.removed.toSorted() }, { kind: 'looked', kept: null, removed: providerId.split(',') });
});

test('a request to publish that Expo carries out in part, with a crash before the rest, leaves one group of each runtime version', async () => {
  const rest = Promise.withResolvers<void>();
  const crashed = deploying({ site: twoVersions });
  loseAfterFirstGroup(rest.promise, () => crashed.abort.abort(new Error('The process ended')));
  await assert.rejects(crashed.publish());
  assert.deepEqual(versionsThere(), ['a1']);
  const resumed = deploying({ site: twoVersions });
  const providerId = await resumed.publish(true);
  assert.deepEqual(versionsThere(), ['a1', 'i1']);
  rest.resolve();
  await Promise.all(standIn.late);
  assert.deepEqual(versionsThere(), ['a1', 'i1', 'i1']);
  const result = await removeCopies(masked(expo), resumed.access, { id: 'dep_1', providerId }, resumed.abort.signal);
  assert.deepEqual([result.kept, result.removed.length], [providerId, 1]);
  assert.deepEqual(versionsThere(), ['a1', 'i1']);
  assert.equal((await expo.state(resumed.access, providerId, resumed.abort.signal)).kind, 'live');
});

test('after a lost answer only the runtime versions that are not there are published again', async () => {
  loseAfterFirstGroup(new Promise(() => {}));
  const deployment = deploying({ site: twoVersions });
  const providerId = await deployment.publish();
  assert.deepEqual(versionsThere(), ['a1', 'i1']);
  assert.equal(providerId.split(',').length, 2);
  assert.equal(await deploying({ site: twoVersions }).publish(true), providerId);
});

test('the only group of a runtime version is never deleted as a copy, however late it came', async () => {
  const deployment = deploying({ site: twoVersions });
  const { access, abort } = deployment;
  const [android, ios] = byVersion((await deployment.publish()).split(','));
  const repeated = byVersion((await deploying({ site: twoVersions }).publish()).split(','));
  const result = await removeCopies(masked(expo), access, { id: 'dep_1', providerId: android! }, abort.signal);
  assert.deepEqual(result.kept!.split(',').sort(), [android, repeated[1]].sort());
  assert.deepEqual([...standIn.deleted].sort(), [ios, repeated[0]].sort());
  assert.deepEqual(versionsThere(), ['a1', 'i1']);
  assert.deepEqual(await removeCopies(masked(expo), access, { id: 'dep_1', providerId: result.kept }, abort.signal), {
    ...result,
    removed: [],
  });
});

test('groups that Expo publishes after a cancellation has deleted the known ones are all deleted', async () => {
  const deployment = deploying({ site: twoVersions });
  const { access, abort } = deployment;
  const providerId = await deployment.publish();
  await deploying({ site: twoVersions }).publish();
  await expo.cancel(access, providerId, abort.signal);
  await removeCopies(masked(expo), access, { id: 'dep_1', providerId }, abort.signal);
  assert.deepEqual(versionsThere(), []);
});

test('a deployment of which one group was deleted at Expo is not live', async () => {
  const deployment = deploying({ site: twoVersions });
  const { access, abort } = deployment;
  const providerId = await deployment.publish();
  await expo.cancel(access, providerId.split(',')[1]!, abort.signal);
  assert.equal((await expo.state(access, providerId, abort.signal)).kind, 'failed');
});

test('assets that Expo does not have yet are waited for, and sent again after 55 seconds, three times in all', async () => {
  standIn.unseenFor = 3;
  const deployment = deploying();
  await deployment.publish();
  assert.deepEqual([deployment.pauses, standIn.sent.length], [[1_000, 2_000], 2]);
  standIn.unseenFor = 1_000;
  const other = deploying({ deploymentId: 'dep_2', site: { ...exportedApp, 'assets/0a1b2c': 'another' } });
  await assert.rejects(other.publish(), { code: 'provider_down', message: /does not see/ });
  assert.equal(standIn.sent.length, 2 + 3 * 2);
  assert.equal(standIn.published.length, 1);
});

test('files that are not an export are refused before anything is sent, with the missing parts', async () => {
  const { 'metadata.json': _metadata, 'app.json': _app, ...bare } = exportedApp;
  const metadata = exportedApp['metadata.json']!;
  const cases: [Record<string, string>, RegExp][] = [
    [bare, /metadata\.json is missing/],
    [{ ...bare, 'metadata.json': '{' }, /no JSON/],
    [{ ...bare, 'metadata.json': '{"version":1}' }, /version 0/],
    [{ ...bare, 'metadata.json': metadata }, /app\.json must be beside/],
    [{ ...bare, 'metadata.json': metadata, 'app.json': '{"expo":{"runtimeVersion":{"policy":"fingerprint"}}}' }, /runtimeVersion for ios/],
    [{ 'metadata.json': metadata, 'app.json': exportedApp['app.json']! }, /names _expo.*not there/],
    [{ ...exportedApp, 'metadata.json': '{"version":0,"bundler":"metro","fileMetadata":{"web":{"bundle":"a.js"}}}' }, /another host/],
  ];
  for (const [site, message] of cases) await assert.rejects(deploying({ site }).publish(), { code: 'build_failed', message });
  assert.throws(() => expo.check!(deploying({ site: bare }).files), { code: 'build_failed' });
  assert.deepEqual(standIn.requests, []);
});

test("the project's limit of assets is checked before anything is sent", async () => {
  standIn.assetLimit = 1;
  await assert.rejects(deploying().publish(), { code: 'too_many_files', message: /takes 1 assets/ });
  assert.equal(standIn.sent.length, 0);
});

test('a project is found by its id, by its name, and by its slug in the first account of the token', async () => {
  const [app] = await projectsAsked({ project: 'my-site' });
  assert.deepEqual(app, { fullName: '@acme/my-site' });
  assert.deepEqual((await projectsAsked({ project: 'acme/my-site' }))[0], { fullName: '@acme/my-site' });
  const id = '7f0bcd4a-5b2f-4d51-8c1b-9a4f8e7d6c5b';
  await assert.rejects(deploying({ project: id }).publish(), { code: 'provider_down', message: /App with id 7f0bcd4a/ });
});

test('a temporary error is retried, and after a lost answer the last step is searched by its message', async () => {
  const passing = { status: 200, json: { errors: [{ message: 'Try again', extensions: { isTransient: true } }] } };
  standIn.meet(/graphql/, passing, passing);
  const deployment = deploying();
  await deployment.publish();
  assert.equal(deployment.pauses.length, 2);
  const lossy = deploying({ deploymentId: 'dep_2' });
  standIn.onRequest = ({ json }) => {
    if (/publishUpdateGroups/.test((json as Json)?.query ?? '')) standIn.meet(/graphql/, 'lost');
    if (standIn.faults.length > 0) standIn.onRequest = () => {};
  };
  await lossy.publish();
  assert.equal(standIn.published.filter(({ message }) => message.startsWith('dep_2')).length, 1);
});

/** Of the next request to publish, Expo carries out the first group, then the rest; the answer is lost. */
function loseAfterFirstGroup(rest: Promise<unknown>, onRequest = () => {}): void {
  standIn.restLater = rest;
  standIn.onRequest = ({ json }) => {
    if (!/publishUpdateGroups/.test((json as Json)?.query ?? '')) return;
    standIn.onRequest = () => {};
    standIn.meet(/graphql/, 'lost');
    onRequest();
  };
}

/** The runtime version of each group that is published and not deleted, sorted. */
function versionsThere(): string[] {
  return standIn.published.flatMap(({ group, runtimeVersion }) => (standIn.deleted.has(group) ? [] : [runtimeVersion])).sort();
}

function byVersion(groups: readonly string[]): string[] {
  const versionOf = (id: string) => standIn.published.find(({ group }) => group === id)!.runtimeVersion;
  return groups.toSorted((a, b) => versionOf(a).localeCompare(versionOf(b)));
}

async function projectsAsked(options: Partial<PublishingOptions>): Promise<Json[]> {
  standIn.requests.length = 0;
  await deploying(options).publish();
  return standIn.requests.map(({ json }) => json as Json).flatMap((json) => (/byFullName/.test(json?.query ?? '') ? [json.variables] : []));
}

function deploying(more: Partial<PublishingOptions> = {}): Publishing {
  return new Publishing({
    ...{ host: expo, outbound, apiUrl: standIn.apiUrl, credentials: { token: goodToken }, deploymentId: 'dep_1', site: exportedApp },
    ...more,
  });
}
