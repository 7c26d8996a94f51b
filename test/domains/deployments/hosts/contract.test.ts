/** Rules for every host: publishing a site, contents that are not sent again, and behaviour after refusals, crashes and invalid answers. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import { removeCopies } from '../../../../src/domains/deployments/deployment/remove-copies.ts';
import type { HostCalls } from '../../../../src/domains/deployments/hosts/host.ts';
import { DeployFailed, type FailureCode } from '../../../../src/domains/deployments/hosts/host-failure.ts';
import { masked } from '../../../../src/domains/deployments/hosts/mask.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { distorted } from '../../../support/distorted.ts';
import { credentialsOf } from '../../../support/hosts/host-row.ts';
import type { Fault } from '../../../support/hosts/host-stand-in.ts';
import { HostWorld } from '../../../support/hosts/host-world.ts';
import { hostRows } from '../../../support/hosts/rows.ts';
import { randomFrom } from '../../../support/random.ts';
import type { Scope } from '../../../support/scope.ts';

let outbound: Outbound;
before(() => {
  outbound = createOutbound({ allow: ['127.0.0.0/8'] });
});
after(() => outbound.close());

const first = 'dep_first000000001';
const second = 'dep_second00000002';
const { signal } = new AbortController();

test('every test server names the source and date of its protocol; those older than 180 days are printed', (t) => {
  const folder = new URL('../../../support/hosts/', import.meta.url);
  for (const name of readdirSync(folder).filter((one) => one.endsWith('-stand-in.ts') && one !== 'host-stand-in.ts')) {
    const [head] = readFileSync(new URL(name, folder), 'utf8').split('*/');
    const [, seen] = /shape_seen (20\d\d-[01]\d-[0-3]\d)/.exec(head!) ?? [];
    assert.ok(seen !== undefined && /\b[0-9a-f]{7,40}\b/.test(head!), `${name} does not name a commit and a day (shape_seen)`);
    const days = Math.floor((Date.now() - Date.parse(seen)) / 86_400_000);
    if (days > 180) t.diagnostic(`${name}: its shapes were read ${days} days ago`);
  }
});

for (const row of hostRows) {
  const named = (what: string) => `${row.name}: ${what}`;
  const { requests } = row;
  const start = (t: Scope) => HostWorld.start(row, outbound, t);

  test(named('a site arrives byte for byte under the tag of its deployment, each content once, and is live at its address'), async (t) => {
    const world = await start(t);
    const providerId = await world.publish(first);
    assert.equal(world.providerIds.get(first), providerId);
    const [made, ...others] = row.deployments(world.standIn);
    assert.deepEqual(others, []);
    assert.ok(made!.tag.startsWith(first), made!.tag);
    assert.deepEqual(made!.files, world.site);
    const uploads = row.uploads(world.standIn);
    const sent = Object.entries(world.site).filter(([path]) => row.notSent?.includes(path) !== true);
    assert.deepEqual([...uploads].sort(), [...new Set(sent.map(([, content]) => content))].sort());
    const end = await world.end(providerId);
    assert.equal(end.kind, 'live');
    assert.equal(row.deployments(world.standIn)[0]!.state, 'live');
    const url = row.url(world.standIn);
    if (url === null || end.kind !== 'live') return;
    assert.equal(end.url, url);
    for (const [path, content] of Object.entries(world.site)) {
      const response = await fetch(`http://${world.standIn.siteHost}/${path.split('/').map(encodeURIComponent).join('/')}`);
      assert.equal(await response.text(), content, path);
    }
  });

  test(named('what the host has is not sent again, and a second deployment is another one'), async (t) => {
    const world = await start(t);
    await world.end(await world.publish(first));
    const before = row.uploads(world.standIn).length;
    const [path] = Object.keys(world.site);
    const changed = { ...world.site, [path!]: `${world.site[path!]} changed` };
    await world.end(await world.publish(second, changed));
    assert.deepEqual(row.uploads(world.standIn).slice(before), [changed[path!]]);
    const made = row.deployments(world.standIn);
    assert.deepEqual([made.length, made[1]!.files, made[1]!.tag.startsWith(second)], [2, changed, true]);
  });

  test(named('credentials are tried by one request, and a refusal of the host is reported in its words, without the token'), async (t) => {
    const world = await start(t);
    await masked(row.host).identify(world.access, signal);
    assert.equal(world.standIn.requestsOf(requests.identify).length, 1);
    assert.equal(world.standIn.requests.length, 1);
    const wrong = 'wrong-token-of-another';
    const access = world.accessWith({ ...credentialsOf(row), token: wrong }, outbound);
    for (const run of [() => masked(row.host).identify(access, signal), () => world.publish(first, world.site, {}, access)]) {
      const failure = await failureOf(run());
      assert.equal(failure.code, 'auth');
      assert.ok(!failure.message.includes(wrong), failure.message);
    }
    assert.equal(row.uploads(world.standIn).length, 0);
  });

  test(named('after a crash at any request the deployment goes on: one at the host, no content twice'), async (t) => {
    const clean = await start(t);
    await clean.publish(first);
    const steps = clean.standIn.requests.length;
    for (const acted of [true, false])
      for (let at = 1; at <= steps; at += 1) {
        const world = await start(t);
        const crash = new AbortController();
        const access = world.accessWith(credentialsOf(row), outbound, (calls) => crashing(calls, crash, at, acted));
        await assert.rejects(world.publish(first, world.site, { signal: crash.signal }, access), /crash/);
        const providerId = world.providerIds.get(first) ?? null;
        const made = await world.publish(first, world.site, { isRepeat: true, providerId });
        assert.equal((await world.end(made)).kind, 'live', `request ${at} of ${steps}`);
        const ours = row.deployments(world.standIn).filter(({ tag }) => tag.startsWith(first));
        assert.deepEqual([ours.length, ours[0]!.files], [1, world.site], `request ${at} of ${steps}`);
        const uploads = row.uploads(world.standIn);
        assert.equal(new Set(uploads).size, uploads.length, `request ${at} of ${steps}: ${JSON.stringify(uploads)}`);
      }
  });

  test(named('after any deaths one after the other, with faults between, there is one deployment at the host'), async (t) => {
    const death = fc.record({
      at: fc.integer({ min: 1, max: 12 }),
      acted: fc.boolean(),
      fault: fc.constantFrom<Fault | null>(null, 'lost', 'cut', row.refusal(502, 'Bad gateway')),
    });
    const property = fc.asyncProperty(fc.array(death, { minLength: 2, maxLength: 4 }), async (deaths) => {
      const ends: (() => unknown)[] = [];
      const world = await start({ after: (end) => void ends.push(end) });
      for (const [tries, { at, acted, fault }] of deaths.entries()) {
        const crash = new AbortController();
        if (fault !== null) world.standIn.meet(/./, fault);
        const access = world.accessWith(credentialsOf(row), outbound, (calls) => crashing(calls, crash, at, acted));
        const providerId = world.providerIds.get(first) ?? null;
        await world.publish(first, world.site, { isRepeat: tries > 0, providerId, signal: crash.signal }, access).catch((error: Error) => {
          assert.equal(error.message, 'crash');
        });
      }
      world.standIn.faults = [];
      const made = await world.publish(first, world.site, { isRepeat: true, providerId: world.providerIds.get(first) ?? null });
      assert.equal((await world.end(made)).kind, 'live');
      const ours = row.deployments(world.standIn).filter(({ tag }) => tag.startsWith(first));
      assert.deepEqual([ours.length, ours[0]!.files], [1, world.site]);
      for (const end of ends) end();
    });
    await fc.assert(property, { numRuns: Number(process.env.RUNS ?? 8), seed: Number(process.env.FAST_CHECK_SEED) || undefined });
    t.diagnostic('other deaths: RUNS and FAST_CHECK_SEED');
  });

  test(named('a publication that is repeated when all was done makes nothing'), async (t) => {
    const world = await start(t);
    const made = await world.publish(first);
    for (const providerId of [null, made]) {
      const uploads = row.uploads(world.standIn).length;
      assert.equal(await world.publish(first, world.site, { isRepeat: true, providerId }), made);
      assert.deepEqual([row.deployments(world.standIn).length, row.uploads(world.standIn).length], [1, uploads]);
    }
  });

  test(named('limits, outages and lost answers are overcome at every step, and made is one deployment'), async (t) => {
    const clean = await start(t);
    await clean.publish(first);
    const limit: Fault = { ...row.refusal(429, 'Slowly'), headers: { 'retry-after': '3' } };
    const outage = row.refusal(503, 'Down');
    for (const fault of [limit, outage, 'lost', 'cut', { after: outage }] satisfies Fault[])
      for (let at = 1; at <= clean.standIn.requests.length; at += 1) {
        const world = await start(t);
        const { standIn } = world;
        standIn.onRequest = () => {
          if (standIn.requests.length === at) standIn.faults.unshift({ request: /./, fault });
        };
        assert.equal((await world.end(await world.publish(first))).kind, 'live');
        const made = row.deployments(standIn);
        assert.deepEqual([made.length, made[0]!.files], [1, world.site], `request ${at} ${JSON.stringify(fault)}`);
        if (fault === limit) assert.ok(world.pauses.includes(3_000), `request ${at}`);
      }
  });

  test(named('a host that does not give way ends the publication with the right code and its own words'), async (t) => {
    const cases: [number, FailureCode][] = [
      [401, 'auth'],
      [402, 'quota'],
      [403, 'auth'],
      [429, 'rate_limited'],
      [500, 'provider_down'],
    ];
    for (const [step, request] of Object.entries({ create: requests.create, upload: requests.upload }))
      for (const [status, code] of cases) {
        const world = await start(t);
        const { token = '' } = credentialsOf(row);
        for (let count = 0; count < 100; count += 1) world.standIn.meet(request, row.refusal(status, `Said of ${token}`));
        const failure = await failureOf(world.publish(first));
        assert.equal(failure.code, code, `${step} ${status}: ${failure.message}`);
        assert.match(failure.message, /Said of \[masked\]/, step);
      }
  });

  test(named('an answer of 200 that contains an error is that failure'), async (t) => {
    const world = await start(t);
    const { answer, code, message } = row.errorInside;
    world.standIn.meet(requests.create, answer);
    const failure = await failureOf(world.publish(first));
    assert.equal(failure.code, code);
    assert.match(failure.message, message);
  });

  test(named('a failure at the host is reported with its code and text'), async (t) => {
    for (const [code, prepare] of Object.entries(row.failures)) {
      const world = await start(t);
      prepare(world.standIn);
      const end = await world.end(await world.publish(first));
      assert.equal(end.kind === 'failed' && end.code, code);
      assert.ok(end.kind === 'failed' && end.message.length > 20);
    }
  });

  test(named('what an interrupted publication has created is found by the tag, and nothing where there is none'), async (t) => {
    const world = await start(t);
    const { find } = masked(row.host);
    if (find === undefined) return;
    assert.equal(await find(world.access, first, signal), null);
    const made = await world.publish(first);
    assert.deepEqual([await find(world.access, first, signal), await find(world.access, second, signal)], [made, null]);
  });

  test(
    named('a creation that is carried out after the search for it is found later, and one deployment stays: the one that is seen'),
    async (t) => {
      const { host } = row;
      // Expo publishes no site: expo.test.ts.
      if (host.copies === undefined || row.name === 'expo') return;
      for (const actsLate of ['before it is live', 'once it is live', 'and is live'] as const) {
        const world = await start(t);
        const { standIn } = world;
        const late = Promise.withResolvers<void>();
        // Vercel is asked to create once before it has the contents.
        if (host.target === 'vercel') await world.end(await world.publish(second));
        standIn.meet(requests.create, { actsWhen: late.promise });
        const made = await world.publish(first);
        assert.equal(world.unknownOutcomes, 1);
        const ours = () => row.deployments(standIn).filter(({ tag, state }) => tag.startsWith(first) && state !== 'cancelled');
        assert.equal(ours().length, 1);
        if (actsLate !== 'before it is live') assert.equal((await world.end(made)).kind, 'live');
        late.resolve();
        await Promise.all(standIn.late);
        assert.equal(ours().length, 2, actsLate);
        if (actsLate === 'before it is live') assert.equal((await world.end(made)).kind, 'live');
        const copy = ours().find(({ id }) => id !== made)!.id;
        if (actsLate === 'and is live') assert.equal((await world.end(copy)).kind, 'live');
        row.neverReady?.(standIn);
        const known = { id: first, providerId: made };
        const result = await removeCopies(masked(host), world.access, known, signal);
        const isServed = actsLate === 'and is live';
        assert.deepEqual(result, { kind: 'looked', kept: isServed ? copy : made, removed: [isServed ? made : copy] }, actsLate);
        assert.deepEqual(
          ours().map(({ id, state }) => [id, state]),
          [[result.kept, 'live']],
          actsLate,
        );
        assert.equal(await (await fetch(`http://${standIn.siteHost}/index.html`)).text(), world.site['index.html']);
        assert.deepEqual(await removeCopies(masked(host), world.access, { ...known, providerId: result.kept }, signal), {
          ...result,
          removed: [],
        });
      }
    },
  );

  test(named('a cancelled deployment ends at the host, and one that has ended or is not there can be cancelled too'), async (t) => {
    const world = await start(t);
    row.neverReady?.(world.standIn);
    const made = await world.publish(first);
    if (row.neverReady !== null) assert.equal((await world.state(made)).kind, 'working');
    for (const id of [made, made, 'unknown']) await masked(row.host).cancel(world.access, id, signal);
    if (requests.cancel === null) return;
    assert.ok(world.standIn.requestsOf(requests.cancel).length >= 3);
    assert.equal(row.deployments(world.standIn)[0]!.state, 'cancelled');
    const state = await world.state(made);
    assert.equal(state.kind === 'failed' && state.code, 'cancelled');
  });

  test(named('answers of an unknown form are failures or taken as they are, never a defect and never without end'), async (t) => {
    const world = await start(t);
    const made = await world.publish(first);
    for (let seed = 0; seed < 25; seed += 1) {
      const random = randomFrom(seed);
      world.standIn.requests.length = 0;
      world.standIn.distort = (json) => distorted(json, random);
      const stop = new AbortController();
      world.standIn.onRequest = () => world.standIn.requests.length > 1_500 && stop.abort(new Error('It does not end'));
      const access = world.access;
      for (const run of [
        () => world.publish(`dep_${seed}`, world.site, { isRepeat: seed % 2 === 0, signal: stop.signal }),
        () => world.state(made),
        () => masked(row.host).identify(access, stop.signal),
        () => masked(row.host).cancel(access, made, stop.signal),
      ])
        await run().catch((error: unknown) => {
          assert.ok(error instanceof DeployFailed, `seed ${seed}: ${(error as Error).stack}`);
        });
    }
  });

  test(named('its limits are numbers, and every ordinary name is a good one'), async () => {
    const { files, fileBytes, badName } = row.host.limits;
    assert.ok(files >= 1_000 && fileBytes >= 2 ** 20);
    for (const path of ['index.html', 'a/b c.css', 'größe.txt', "it's & more.js"]) assert.equal(badName?.(path) ?? null, null, path);
    assert.ok(row.host.credentials.includes('token'));
  });
}

/** The process dies with the request of this number: after the host has acted, or before. One request at a time, so that nothing else is under way. */
function crashing(calls: HostCalls, crash: AbortController, at: number, acted: boolean): HostCalls {
  let made = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    pause: (ms, ending) => calls.pause(ms, ending),
    request(request) {
      const mine = last.then(async () => {
        request.signal.throwIfAborted();
        made += 1;
        if (made === at && !acted) crash.abort(new Error('crash'));
        request.signal.throwIfAborted();
        const answer = await calls.request(request);
        if (made === at) crash.abort(new Error('crash'));
        request.signal.throwIfAborted();
        return answer;
      });
      last = mine.catch(() => {});
      return mine;
    },
  };
}

async function failureOf(running: Promise<unknown>): Promise<DeployFailed> {
  const error = await running.then(
    (result) => assert.fail(`No failure but ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeployFailed, `${(error as Error).stack}`);
  return error;
}
