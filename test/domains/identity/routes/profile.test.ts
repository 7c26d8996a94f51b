/** Name and e-mail address of a user: an address belongs to at most one user at any time, despite concurrent claims. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import { emailAddress } from '../../../../src/domains/identity/email-address/messages.ts';
import { user } from '../../../../src/domains/identity/user/messages.ts';
import type { Invalid } from '../../../support/bodies.ts';
import { startIdentityNode } from '../../../support/identity-node.ts';
import { settled } from '../../../support/settled.ts';
import { until } from '../../../support/until.ts';

const password = 'correct horse battery';
const hourMs = 3_600_000;

async function open(t: TestContext) {
  const node = await startIdentityNode(t);
  const { mail } = node;
  const patch = async (token: string | null, body: object) => {
    const response = await node.request('PATCH', '/v1/auth/me', token, 'email' in body ? { password, ...body } : body);
    return { status: response.status, json: (await response.json()) as any };
  };
  const login = async (email: string) => (await node.request('POST', '/v1/auth/login', null, { email, password })).status;
  const post = async (path: string, body?: unknown, token: string | null = null) =>
    (await node.request('POST', `/v1${path}`, token, body)).status;
  /** The token of the newest mail that verifies this address, when so many have come. */
  async function tokenTo(email: string, n = 1): Promise<string> {
    const mails = () => mail.verifications.filter(({ to }) => to === email);
    await until(() => mails().length >= n, `mail ${n} to ${email}`);
    return /^v4\.public\.\S+$/m.exec(mails().at(-1)!.text)![0];
  }
  const verify = (token: string) => post('/auth/verify-email', { token });
  async function move(token: string, email: string): Promise<void> {
    assert.equal((await patch(token, { email })).status, 200);
    assert.equal(await verify(await tokenTo(email)), 200);
  }
  return { ...node, patch, login, post, tokenTo, verify, move };
}

test('a new user is unverified until the mailed token is used, once and within a day', async (t) => {
  const { register, request, tokenTo, verify, clock, post, tokens, patch } = await open(t);
  const ann = await register('Ann@Example.com', password);
  const me = async () => (await (await request('GET', '/v1/auth/me', ann.access_token)).json()) as any;
  assert.deepEqual([(await me()).email_verified, (await me()).pending_email], [false, null]);
  const first = await tokenTo('Ann@Example.com');
  const { userId } = (await tokens.readAccessToken(ann.access_token))!;
  const madeUp = await tokens.verificationToken({ userId, verificationId: 'req_1', expiresAtMs: clock.nowMs() + 1_000 });
  const bent = `${first.slice(0, 40)}${first[40] === 'A' ? 'B' : 'A'}${first.slice(41)}`;
  for (const bad of ['', 'x', ann.access_token, bent, madeUp]) assert.equal(await verify(bad), 400, bad);
  clock.advance(24 * hourMs);
  assert.equal(await verify(first), 400);
  const fresh = (await (await request('POST', '/v1/auth/login', null, { email: 'ann@example.com', password })).json()) as any;
  assert.equal(await post('/auth/verify-email/resend', undefined, fresh.access_token), 200);
  const second = await tokenTo('Ann@Example.com', 2);
  const answers = await Promise.all([verify(second), verify(second)]);
  assert.deepEqual(answers.sort(), [200, 400], 'of two at once one verifies');
  assert.equal((await patch(fresh.access_token, {})).json.email_verified, true);
  assert.equal(await post('/auth/verify-email/resend', undefined, fresh.access_token), 409);
});

test('the link of a verification mail opens a page, and its button verifies the address once', async (t) => {
  const { register, request, tokenTo, edge } = await open(t);
  const ann = await register('ann@example.com', password);
  const verified = async () =>
    ((await (await request('GET', '/v1/auth/me', ann.access_token)).json()) as { email_verified: boolean }).email_verified;
  const token = await tokenTo('ann@example.com');
  const page = `${edge.url}/auth/verify-email/page`;
  const opened = await fetch(`${page}?token=${encodeURIComponent(token)}`);
  assert.deepEqual([opened.status, opened.headers.get('referrer-policy')], [200, 'no-referrer']);
  const [, field] = /<form method="post"><input type="hidden" name="token" value="([^"]+)">/.exec(await opened.text())!;
  assert.equal(await verified(), false, 'a mail program that opens links confirms nothing');
  const press = (value: string) => fetch(page, { method: 'POST', body: new URLSearchParams({ token: value }) });
  assert.equal((await press('x')).status, 400);
  assert.equal((await press(field!)).status, 200);
  assert.equal(await verified(), true);
  assert.equal((await press(field!)).status, 400);
  const hostile = await fetch(`${page}?token=${encodeURIComponent('"><script>')}`);
  assert.deepEqual([hostile.status, hostile.headers.get('content-type')], [422, 'application/json']);
});

test('a link of the mail that is cut shows a browser what to do, and a program JSON', async (t) => {
  const { edge } = await open(t);
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  for (const [link, status] of [
    ['/auth/verify-email/page?token=v4.pub', 422],
    ['/auth/verify-email/page', 422],
    ['/auth/verify-email/pa', 404],
    ['/v1/auth/reset-password', 405],
  ] as const) {
    const shown = await fetch(edge.url + link, { headers: browser });
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [status, 'text/html; charset=utf-8'], link);
    assert.match(await shown.text(), /<h1>This did not work<\/h1>\s*<p role="alert">[^<]+<\/p>\s*<p>[^<]*Open the link as it/);
    for (const accept of ['*/*', 'application/json']) {
      const answered = await fetch(edge.url + link, { headers: { accept } });
      assert.deepEqual([answered.status, answered.headers.get('content-type')], [status, 'application/json'], link);
    }
  }
});

test('verification mails are limited by address', async (t) => {
  const { register, post, clock } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  const resend = () => post('/auth/verify-email/resend', undefined, access_token);
  const answers = await Promise.all(Array.from({ length: 12 }, resend));
  assert.deepEqual(answers.sort(), [...Array(10).fill(200), 429, 429]);
  clock.advance(hourMs - 1);
  assert.equal(await resend(), 429);
});

test('changing the address needs the password, and wrong passwords are counted separately from logins', async (t) => {
  const { patch, login, register, request, mail } = await open(t);
  const ann = await register('ann@example.com', password);
  const bare = await request('PATCH', '/v1/auth/me', ann.access_token, { email: 'anna@example.com' });
  assert.equal(bare.status, 422);
  assert.deepEqual(((await bare.json()) as Invalid).detail[0].loc, ['body', 'password']);
  for (let n = 0; n < 5; n++) assert.equal((await patch(ann.access_token, { email: 'anna@example.com', password: 'wrong' })).status, 403);
  assert.equal((await patch(ann.access_token, { email: 'anna@example.com' })).status, 429);
  assert.equal(await login('ann@example.com'), 200, 'a stolen session locks nobody out');
  assert.equal(
    mail.verifications.some(({ to }) => to === 'anna@example.com'),
    false,
  );
});

test('a user changes name and address; the old address becomes free, and the session stays', async (t) => {
  const { patch, login, register, request, mail, verify, tokenTo, actors, post, database, runtime } = await open(t);
  const ann = await register('ann@example.com', password);
  assert.equal(await verify(await tokenTo('ann@example.com')), 200);
  const changed = await patch(ann.access_token, { name: 'Ann', email: 'Anna@Example.com' });
  const { name, email, email_verified, pending_email } = changed.json;
  assert.deepEqual([changed.status, name, email, email_verified, pending_email], [200, 'Ann', 'ann@example.com', true, 'Anna@Example.com']);
  assert.deepEqual(await (await request('GET', '/v1/auth/me', ann.access_token)).json(), changed.json);
  assert.deepEqual([await login('ANNA@example.com'), await login('ann@example.com')], [401, 200]);
  assert.equal(await post('/auth/register', { email: 'anna@example.com', password }), 409, 'it is reserved');
  await post('/auth/forgot-password', { email: 'anna@example.com' });
  // Who holds the address is asked behind a message: only then may the address be confirmed.
  await settled(database, runtime);
  assert.equal(mail.resets.length, 0, 'an address that only waits is mailed no reset');
  const token = await tokenTo('Anna@Example.com');
  const notice = mail.sent.find(({ subject }) => subject === 'Your e-mail address is about to change')!;
  assert.deepEqual(
    [notice.to, notice.text.includes('Anna@Example.com'), notice.text.includes('v4.public')],
    ['ann@example.com', true, false],
  );
  assert.equal(await verify(token), 200);
  assert.equal(await verify(token), 400);
  assert.deepEqual([await login('ANNA@example.com'), await login('ann@example.com')], [200, 401]);
  const after = (await patch(ann.access_token, {})).json;
  assert.deepEqual([after.email, after.email_verified, after.pending_email], ['Anna@Example.com', true, null]);
  await untilFree(actors, 'ann@example.com');
  await register('ann@example.com', password);
  assert.equal(await login('ann@example.com'), 200);
  assert.equal((await patch(ann.access_token, { email: 'ann@example.com' })).status, 409);
  assert.equal((await patch(ann.access_token, { email: 'ANNA@example.com', name: null })).json.name, null);
  assert.equal((await patch(ann.access_token, {})).json.email, 'ANNA@example.com');
});

test('a second change replaces the first; a change ends when the current address is set again or after a day without verification', async (t) => {
  const { patch, register, verify, tokenTo, actors, clock, tokens } = await open(t);
  const { access_token } = await register('a@example.com', password);
  await patch(access_token, { email: 'b@example.com' });
  const old = await tokenTo('b@example.com');
  assert.equal((await patch(access_token, { email: 'c@example.com' })).json.pending_email, 'c@example.com');
  assert.equal(await verify(old), 400);
  await untilFree(actors, 'b@example.com');
  const later = await tokenTo('c@example.com');
  assert.equal((await patch(access_token, { email: 'A@example.com' })).json.pending_email, null);
  assert.equal(await verify(later), 400);
  await untilFree(actors, 'c@example.com');

  await patch(access_token, { email: 'd@example.com' });
  const last = await tokenTo('d@example.com');
  const { userId } = (await tokens.readAccessToken(access_token))!;
  const timesUp = () => actors.ask(user, userId, 'dropPendingEmail', { email: 'd@example.com' });
  await timesUp();
  assert.equal(await actors.query(emailAddress, 'd@example.com', 'isTaken', null), true, 'not before its time');
  clock.advance(24 * hourMs);
  assert.equal(await verify(last), 400);
  await timesUp();
  await untilFree(actors, 'd@example.com');
});

test('a password reset by mail ends a pending change of address, and verifies the current address', async (t) => {
  const { patch, register, verify, tokenTo, post, mail, actors, login } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  await patch(access_token, { email: 'thief@example.com' });
  const thiefs = await tokenTo('thief@example.com');
  await post('/auth/forgot-password', { email: 'ann@example.com' });
  await until(() => mail.resets.length > 0, 'the mail');
  const token = /^v4\.public\.\S+$/m.exec(mail.resets[0]!.text)![0];
  assert.equal(await post('/auth/reset-password', { token, password }), 200);
  assert.equal(await verify(thiefs), 400);
  await untilFree(actors, 'thief@example.com');
  assert.equal(await login('ann@example.com'), 200);
  const holder = await actors.query(emailAddress, 'ann@example.com', 'holder', null);
  assert.equal((await actors.query(user, holder!.userId, 'profile', null))!.emailVerified, true);
});

test('an international address is one account in any spelling, and one with invisible characters is refused', async (t) => {
  const { register, login, post, patch, tokenTo, verify } = await open(t);
  const { access_token } = await register('Jo\u0308rg@Müller.example', password);
  assert.equal(await verify(await tokenTo('Jörg@Müller.example')), 200);
  for (const same of ['JÖRG@müller.example', 'jo\u0308rg@xn--mller-kva.example']) {
    assert.equal(await login(same), 200, same);
    assert.equal(await post('/auth/register', { email: same, password }), 409, same);
  }
  for (const email of ['jör\u200bg@müller.example', 'jörg@mül\u00adler.example', 'jörg@müller', 'jörg\u202e@müller.example'])
    for (const path of ['/auth/register', '/auth/forgot-password']) assert.equal(await post(path, { email, password }), 422, email);
  assert.equal((await patch(access_token, { email: '用户@例子.广告' })).json.pending_email, '用户@例子.广告');
});

test('a taken address is refused as a conflict, and nothing else is changed', async (t) => {
  const { patch, register } = await open(t);
  const ann = await register('ann@example.com', password);
  const bob = await register('bob@example.com', password);
  await patch(bob.access_token, { email: 'robert@example.com' });
  for (const email of ['BOB@example.com', 'Robert@example.com'])
    assert.equal((await patch(ann.access_token, { email, name: 'Bob' })).status, 409, email);
  const { json } = await patch(ann.access_token, {});
  assert.deepEqual([json.email, json.name], ['ann@example.com', null]);
  for (const body of [{ email: 'nonsense' }, { email: null }, { name: '' }, { name: 'x'.repeat(101) }])
    assert.equal((await patch(ann.access_token, body)).status, 422, JSON.stringify(body));
});

test('of many concurrent claims of one free address one succeeds', async (t) => {
  const { patch, login, register, verify, tokenTo } = await open(t);
  const names = ['a', 'b', 'c', 'd'];
  const people = await Promise.all(names.map((name) => register(`${name}@example.com`, password)));
  const answers = await Promise.all(people.map(({ access_token }) => patch(access_token, { email: 'best@example.com' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  await verify(await tokenTo('best@example.com'));
  for (const [n, { status }] of answers.entries()) assert.equal(await login(`${names[n]}@example.com`), status === 200 ? 401 : 200);
});

test('after concurrent changes to several addresses a user has one of them, and the others are free', async (t) => {
  const { patch, login, register, actors, verify, tokenTo, clock } = await open(t);
  const { access_token } = await register('start@example.com', password);
  const wanted = ['w1@example.com', 'w2@example.com', 'w1@example.com', 'w3@example.com', 'w2@example.com'];
  const claimed = async (expected: (string | null)[]) => {
    for (const other of ['start@example.com', ...wanted]) {
      // A release is a message in transit.
      await until(async () => (await actors.query(emailAddress, other, 'isTaken', null)) === expected.includes(other), other);
    }
  };
  for (let round = 0; round < 3; round++) {
    clock.advance(10 * 60_000);
    const others = wanted.filter((one) => round === 0 || one !== 'w3@example.com');
    const answers = await Promise.all(others.map((email) => patch(access_token, { email })));
    assert.ok(
      answers.every(({ status }) => status === 200 || status === 409),
      JSON.stringify(answers),
    );
    const { email, pending_email } = (await patch(access_token, {})).json;
    await claimed([email, pending_email]);
    assert.equal(await login(email), 200);
    if (pending_email === null) continue;
    assert.equal(await verify(await tokenTo(pending_email)), 200);
    await claimed([pending_email]);
    assert.equal(await login(pending_email), 200);
  }
});

test('tokens mailed to the old address are invalid after the change', async (t) => {
  const { move, register, request, mail } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  await request('POST', '/v1/auth/forgot-password', null, { email: 'ann@example.com' });
  await until(() => mail.resets.length > 0, 'the mail');
  const token = /^v4\.public\.\S+$/m.exec(mail.resets[0]!.text)![0];
  await move(access_token, 'anna@example.com');
  assert.equal((await request('POST', '/v1/auth/reset-password', null, { token, password })).status, 400);
});

test('no API key can change the profile of a user', async (t) => {
  const { patch, register, createKey } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  const { key } = await createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  assert.equal((await patch(key, { email: 'eve@example.com' })).status, 403);
  assert.equal((await patch(null, { email: 'eve@example.com' })).status, 401);
});

/** A release is a message in transit. */
async function untilFree(actors: ActorSystem, id: string): Promise<void> {
  await until(async () => !(await actors.query(emailAddress, id, 'isTaken', null)), `${id} to be free`);
}
