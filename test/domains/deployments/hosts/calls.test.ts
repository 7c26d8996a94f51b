import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test, { after, before, beforeEach } from 'node:test';
import { machineClock } from '../../../../src/clock.ts';
import { ByteBudget } from '../../../../src/domains/deployments/hosts/byte-budget.ts';
import { hostCalls, OutcomeUnknown } from '../../../../src/domains/deployments/hosts/calls.ts';
import { createOnce } from '../../../../src/domains/deployments/hosts/create-once.ts';
import type { HostRequest } from '../../../../src/domains/deployments/hosts/host.ts';
import { DeployFailed, type FailureCode } from '../../../../src/domains/deployments/hosts/host-failure.ts';
import { contentOf, uploadAll } from '../../../../src/domains/deployments/hosts/upload.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { goodToken, HostStandIn, type StandInAnswer } from '../../../support/hosts/host-stand-in.ts';
import { publicationOf, siteFiles } from '../../../support/hosts/host-world.ts';

class PlainHost extends HostStandIn {
  protected override answer(): StandInAnswer {
    return { status: 200, json: { id: 'made' } };
  }
  protected override fileOf(): undefined {}
}

const ends: (() => unknown)[] = [];
let standIn: PlainHost;
let outbound: Outbound;
let pauses: number[];

before(async () => {
  standIn = await PlainHost.start({ after: (end) => void ends.push(end) });
  outbound = createOutbound({ allow: [] });
  ends.push(() => outbound.close());
});
beforeEach(() => {
  pauses = [];
  standIn.requests.length = 0;
  standIn.faults = [];
});
after(async () => {
  for (const end of ends) await end();
});

const { signal } = new AbortController();
const read: HostRequest = { method: 'GET', path: '/things?a=b', repeatable: true, signal };
const make: HostRequest = { method: 'POST', path: '/things', body: '{}', repeatable: false, signal };

test('a request goes to the base address with the token, and a refusal of any kind has its code and the text of the host', async () => {
  const answer = await calls().request(read);
  assert.deepEqual([answer.status, answer.json], [200, { id: 'made' }]);
  const [made] = standIn.requests;
  assert.deepEqual([made!.path, made!.query.get('a'), made!.token], ['/things', 'b', goodToken]);
  const texts: [number, object, FailureCode, RegExp][] = [
    [401, { error: { message: `Token ${goodToken} is bad` } }, 'auth', /^Plain answered 401: Token \[masked\] is bad$/],
    [403, { message: 'Not yours' }, 'auth', /Not yours/],
    [402, { code: 402, message: 'Pay first' }, 'quota', /Pay first/],
    [413, { errors: [{ code: 1, message: 'Too big' }] }, 'file_too_large', /Too big/],
    [422, { msg: 'No such name' }, 'provider_down', /422: No such name/],
    [422, { errors: { subdomain: ['must be unique'] } }, 'provider_down', /422: subdomain must be unique/],
  ];
  for (const [status, json, code, message] of texts) {
    standIn.meet(/./, { status, json });
    const failure = await failureOf(calls().request(read));
    assert.equal(failure.code, code);
    assert.match(failure.message, message);
  }
  standIn.meet(/./, { status: 404, json: { message: 'Not here' } });
  assert.equal((await calls().request({ ...read, accept: [404] })).status, 404);
  assert.deepEqual(pauses, []);
});

test('after 429 a request waits as long as Retry-After says, from 1 to 60 s, and fails after the fifth, also if it must not be repeated', async () => {
  const limited = (headers: Record<string, string>) => ({ status: 429, json: { message: 'Slowly' }, headers });
  const limit = (after?: string) => limited(after === undefined ? {} : { 'retry-after': after });
  standIn.meet(/./, limit('7'), limit('0'), limit('86400'), limited({ 'x-ratelimit-reset': '1' }));
  assert.equal((await calls().request(make)).status, 200);
  assert.deepEqual(pauses, [7_000, 1_000, 60_000, 1_000]);
  standIn.requests.length = 0;
  standIn.meet(/./, limit(), limit(), limit(), limit(), limit());
  const failure = await failureOf(calls().request(read));
  assert.deepEqual([failure.code, standIn.requests.length], ['rate_limited', 5]);
  assert.match(failure.message, /Slowly/);
});

test('during a rate limit no other request begins', async () => {
  const limited = { status: 429, json: {}, headers: { 'retry-after': '1' } };
  standIn.meet(/./, limited);
  let endPause = () => {};
  const paused = new Promise<void>((resolve) => (endPause = resolve));
  const waiting: number[] = [];
  const shared = calls(async (ms) => {
    waiting.push(ms);
    await (waiting.length === 1 ? paused : new Promise((resolve) => setTimeout(resolve, ms)));
  });
  const first = shared.request(read);
  while (waiting.length === 0) await new Promise(setImmediate);
  const others = [shared.request(read), shared.request(make)];
  while (waiting.length < 3) await new Promise(setImmediate);
  assert.equal(standIn.requests.length, 1);
  endPause();
  await Promise.all([first, ...others]);
  assert.equal(standIn.requests.length, 4);
});

test('repeatable requests are tried five times after an outage, a time-out at the host or a lost answer', async () => {
  standIn.meet(
    /./,
    { status: 500, text: '<html>Oops</html>' },
    'lost',
    { status: 408, text: '' },
    { status: 503, json: {}, headers: { 'retry-after': '9' } },
  );
  assert.equal((await calls().request(read)).status, 200);
  assert.deepEqual(pauses, [500, 1_000, 2_000, 9_000]);
  standIn.requests.length = 0;
  for (let count = 0; count < 5; count += 1) standIn.meet(/./, { status: 502, text: `Bad gateway for ${goodToken}` });
  const failure = await failureOf(calls().request(read));
  assert.deepEqual([failure.code, failure.message], ['provider_down', 'Plain answered 502: Bad gateway for [masked]']);
  assert.equal(standIn.requests.length, 5);
});

test('a non-repeatable creation is made once: after an unknown outcome it is searched for first', async () => {
  standIn.meet(/^POST/, 'lost');
  assert.ok((await failureOf(calls().request(make))) instanceof OutcomeUnknown);
  assert.equal(standIn.requests.length, 1);
  let unknownOutcomes = 0;
  const outcomeUnknown = () => void unknownOutcomes++;
  for (const [found, requests] of [
    ['found', 1],
    [null, 2],
  ] as const) {
    standIn.requests.length = 0;
    standIn.meet(/^POST/, { status: 500, json: {} });
    const create = async () => (await calls().request(make)).text;
    const made = await createOnce<string>({ mayExist: false, find: async () => found, create, outcomeUnknown, calls: calls(), signal });
    assert.equal(made, found ?? '{"id":"made"}');
    assert.equal(standIn.requests.length, requests);
  }
  assert.equal(unknownOutcomes, 2);
});

test('an external address is checked and gets no token, and an aborted request ends at once', async () => {
  const failure = await failureOf(calls().request({ ...read, url: `${standIn.url}/else` }));
  assert.equal(failure.code, 'provider_down');
  assert.match(failure.message, /not a public address/);
  assert.equal(standIn.requests.length, 0);
  const ending = new AbortController();
  standIn.meet(/./, 'hang');
  standIn.onRequest = () => ending.abort(new Error('enough'));
  await assert.rejects(calls().request({ ...read, signal: ending.signal }), /enough/);
  standIn.onRequest = () => {};
  const leaving = new AbortController();
  const waiting = hostCalls(callParts()).pause(60_000, leaving.signal);
  leaving.abort(new Error('no more'));
  await assert.rejects(waiting, /no more/);
});

test('uploads run ten at once within the bytes of the node, and end together with the first that fails', async () => {
  let running = 0;
  let most = 0;
  const send = async () => {
    most = Math.max(most, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
  };
  const items = Array.from({ length: 100 }, (_, at) => at);
  await uploadAll({ items, bytesOf: () => 1, send, signal });
  assert.equal(most, 10);
  most = 0;
  await uploadAll({ items, bytesOf: () => 40 * 2 ** 20, send, signal });
  assert.equal(most, 2);
  let sent = 0;
  const failing = uploadAll({
    items,
    bytesOf: () => 1,
    send: async (item, ending) => {
      sent += 1;
      if (item === 5) throw new DeployFailed('quota', 'Full');
      await new Promise((_, reject) => ending.addEventListener('abort', () => reject(ending.reason)));
    },
    signal,
  });
  assert.equal((await failureOf(failing)).code, 'quota');
  assert.equal(sent, 10);
});

test('a content with another length than in the snapshot is not sent, and an abort ends the reading', async () => {
  const site = { 'a.txt': 'four' };
  const [file] = siteFiles(site);
  const { open } = publicationOf('dep_1', site);
  assert.equal(Buffer.from(await contentOf({ open, signal }, file!)).toString(), 'four');
  for (const sizeBytes of [0, 3, 5]) await assert.rejects(contentOf({ open, signal }, { ...file!, sizeBytes }), /is not of \d bytes/);
  const ending = new AbortController();
  const endless = async () => new Readable({ read: () => ending.abort() });
  await assert.rejects(contentOf({ open: endless, signal: ending.signal }, file!), { name: 'AbortError' });
});

test('requests for bytes of the budget are served in order, and an aborted one blocks no other', async () => {
  const budget = new ByteBudget(10);
  const order: string[] = [];
  const first = await budget.take(8, signal);
  const leaving = new AbortController();
  const large = budget.take(100, leaving.signal).catch(() => order.push('large left'));
  const small = budget.take(2, signal).then((release) => {
    order.push('small');
    return release;
  });
  leaving.abort(new Error('left'));
  await large;
  (await small)();
  first();
  (await budget.take(10, signal))();
  assert.deepEqual(order.sort(), ['large left', 'small']);
});

const callParts = () => ({
  ...{ outbound, clock: machineClock, apiUrl: standIn.url, title: 'Plain', accountId: 'acct_1', credentials: { token: goodToken } },
});

/** Without a wait between attempts. */
function calls(pause: (ms: number) => Promise<unknown> = async (ms) => pauses.push(ms)) {
  return hostCalls({ ...callParts(), pause });
}

async function failureOf(running: Promise<unknown>): Promise<DeployFailed> {
  const error = await running.then(
    (result) => assert.fail(`No failure but ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeployFailed, `${error}`);
  return error;
}
