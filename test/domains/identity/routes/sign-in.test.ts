/** Passwords and codes, from attackers who guess and from their owners. The codes come from a separate TOTP library. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { URI } from 'otpauth';
import decodeQr from 'qr/decode.js';
import { startIdentityNode } from '../../../support/identity-node.ts';
import { until } from '../../../support/until.ts';

const password = 'correct horse battery';
const minuteMs = 60_000;
let made = 0;

/** All clients of a test have one address unless a proxy is trusted; so each test has its own node. */
async function open(t: TestContext) {
  const node = await startIdentityNode(t);
  const post = async (path: string, body: unknown, token: string | null = null) => {
    const response = await node.request('POST', `/v1${path}`, token, body);
    return { status: response.status, retryAfter: response.headers.get('retry-after'), json: (await response.json()) as any };
  };
  const login = (email: string, typed = password) => post('/auth/login', { email, password: typed });
  return { ...node, post, login, newEmail: () => `person${++made}@example.com` };
}
type Opened = Awaited<ReturnType<typeof open>>;

/** A user with a second factor; `code` is what the app shows now, and time moves on after each so that no step comes twice. */
async function withSecondFactor({ post, register, clock, newEmail }: Opened) {
  const email = newEmail();
  const { access_token } = await register(email, password);
  const enrolled = await post('/auth/2fa/enroll', undefined, access_token);
  assert.equal(enrolled.status, 200);
  const app = URI.parse(enrolled.json.otpauth_url);
  assert.ok('period' in app);
  const code = () => app.generate({ timestamp: clock.nowMs() });
  const confirmed = await post('/auth/2fa/confirm', { code: code() }, access_token);
  assert.equal(confirmed.status, 200);
  clock.advance(30_000);
  return { email, access_token, enrolled: enrolled.json, code, recoveryCodes: confirmed.json.recovery_codes as string[] };
}

async function challengeOf({ login }: Opened, email: string): Promise<string> {
  const { status, json } = await login(email);
  assert.deepEqual([status, json.two_factor_required, json.expires_in, json.access_token], [200, true, 300, undefined]);
  return json.challenge_token;
}

test('after five wrong passwords the sixth answer is 429 for a correct, a wrong and an unknown login, until 15 minutes have passed', async (t) => {
  const { login, register, clock, newEmail, database, runtime } = await open(t);
  const [known, unknown] = [newEmail(), newEmail()];
  await register(known, password);
  for (const email of [known, unknown]) {
    for (let n = 0; n < 5; n++) {
      const { status, json } = await login(email.toUpperCase(), 'wrong horse battery');
      assert.deepEqual([status, json], [401, { detail: 'Incorrect email or password' }]);
    }
  }
  const refused = [await login(known), await login(known, 'wrong'), await login(unknown)];
  for (const answer of refused) assert.deepEqual(answer, { ...refused[0], status: 429, retryAfter: '900' });
  clock.advance(15 * minuteMs - 1);
  assert.equal((await login(known)).status, 429);
  clock.advance(1);
  assert.equal((await login(known)).status, 200);
  await runtime.commit.drained();
  const { rows } = await database.read({ text: 'select id, times from throttle' });
  assert.ok(!JSON.stringify(rows).includes('person'), 'what was typed is not kept');
  assert.ok(rows.every(({ times }) => times.length <= 20));
});

test('a correct password resets the count of wrong ones of its user, not of its client address', async (t) => {
  const { login, register, newEmail, clock } = await open(t);
  const email = newEmail();
  await register(email, password);
  for (let round = 0; round < 5; round++) {
    if (round > 0) assert.equal((await login(email)).status, 200);
    for (let n = 0; n < 4; n++) assert.equal((await login(email, 'wrong')).status, 401);
  }
  assert.equal((await login(email)).status, 429, 'twenty wrong ones: the address is refused');
  assert.equal((await login(newEmail())).status, 429, 'whoever is meant');
  clock.advance(15 * minuteMs);
  assert.equal((await login(email)).status, 200);
});

test('of many concurrent guesses at most five get an answer about their password', async (t) => {
  const { login, register, newEmail } = await open(t);
  const email = newEmail();
  await register(email, password);
  const guesses = await Promise.all(Array.from({ length: 24 }, (_, n) => login(email, `wrong guess ${n}`)));
  const unauthorized = guesses.filter(({ status }) => status === 401);
  assert.equal(unauthorized.length, 5);
  assert.ok(guesses.every(({ status }) => status === 401 || status === 429 || status === 503));
});

test('many concurrent sign-ins with the right password all succeed', async (t) => {
  const { login, register, newEmail } = await open(t);
  const email = newEmail();
  await register(email, password);
  const answers = await Promise.all(Array.from({ length: 12 }, () => login(email)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('a second factor is shown as text, URL and picture, is active after its first correct code, and then needs a new code each time', async (t) => {
  const node = await open(t);
  const { post, clock, request } = node;
  const { email, access_token, enrolled, code, recoveryCodes } = await withSecondFactor(node);
  assert.match(enrolled.secret, /^[A-Z2-7]{32}$/);
  assert.match(enrolled.otpauth_url, /^otpauth:\/\/totp\/Troupe:/);
  assert.equal(readPicture(enrolled.qr_svg), enrolled.otpauth_url);
  assert.equal(new Set(recoveryCodes).size, 10);
  assert.equal(
    ((await (await request('GET', '/v1/auth/me', access_token)).json()) as { two_factor_enabled: boolean }).two_factor_enabled,
    true,
  );
  assert.equal((await post('/auth/2fa/enroll', undefined, access_token)).status, 409);

  const first = code();
  const [one, two] = await Promise.all(
    [await challengeOf(node, email), await challengeOf(node, email)].map((challenge_token) =>
      post('/auth/login/2fa', { challenge_token, code: first }),
    ),
  );
  assert.deepEqual([one!.status, two!.status].sort(), [200, 401], 'of two with one code at once one is let in');
  assert.equal((await post('/auth/login/2fa', { challenge_token: await challengeOf(node, email), code: first })).status, 401, 'nor later');

  clock.advance(30_000);
  const late = code();
  clock.advance(30_000);
  const challenge_token = await challengeOf(node, email);
  const tokens = await post('/auth/login/2fa', { challenge_token, code: ` ${late.slice(0, 3)} ${late.slice(3)}` });
  assert.equal(tokens.status, 200, 'a code of the step before still counts');
  assert.deepEqual(Object.keys(tokens.json).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type']);
  assert.equal((await request('GET', '/v1/auth/me', tokens.json.access_token)).status, 200);
});

test('a recovery code replaces a code once, in any spelling, and recovery codes are not stored in plain text', async (t) => {
  const node = await open(t);
  const { post, database, runtime } = node;
  const { email, enrolled, recoveryCodes } = await withSecondFactor(node);
  const typed = ` ${recoveryCodes[3]!.replaceAll('-', '').toUpperCase()}`;
  const use = async () => post('/auth/login/2fa', { challenge_token: await challengeOf(node, email), code: typed });
  assert.equal((await use()).status, 200);
  assert.equal((await use()).status, 401);
  await runtime.commit.drained();
  const kept = JSON.stringify((await database.read({ text: 'select * from app_user' })).rows);
  for (const secret of [enrolled.secret, recoveryCodes[0]!, recoveryCodes[0]!.replaceAll('-', '')]) assert.ok(!kept.includes(secret));
});

test('five wrong codes block the second factor for 15 minutes, also for correct codes and recovery codes, with any challenge', async (t) => {
  const node = await open(t);
  const { post, clock } = node;
  const { email, access_token, code, recoveryCodes } = await withSecondFactor(node);
  const enter = async (typed: string) => post('/auth/login/2fa', { challenge_token: await challengeOf(node, email), code: typed });
  const wrong = code() === '000000' ? '111111' : '000000';
  for (let n = 0; n < 5; n++) assert.equal((await enter(wrong)).status, 401);
  for (const typed of [code(), recoveryCodes[0]!, wrong]) assert.equal((await enter(typed)).status, 429);
  assert.equal((await post('/auth/2fa/disable', { code: code() }, access_token)).status, 429);
  clock.advance(15 * minuteMs);
  assert.equal((await enter(recoveryCodes[0]!)).status, 200, 'what was refused was not used up');
});

test('a correct code among concurrent wrong ones is either refused without an effect or accepted', async (t) => {
  const node = await open(t);
  const { post, clock, request } = node;
  const { email, access_token, code, recoveryCodes } = await withSecondFactor(node);
  const isOn = async () =>
    ((await (await request('GET', '/v1/auth/me', access_token)).json()) as { two_factor_enabled: boolean }).two_factor_enabled;
  for (const place of [0, 4, 9]) {
    clock.advance(15 * minuteMs);
    const right = place === 9 ? recoveryCodes[0]! : code();
    const guesses = Array.from({ length: 10 }, (_, n) => (n === place ? right : `wrong ${n}`));
    const answers = await Promise.all(guesses.map((typed) => post('/auth/2fa/disable', { code: typed }, access_token)));
    const { status } = answers[place]!;
    assert.ok(status === 200 || status === 429, String(status));
    assert.equal(await isOn(), status === 429);
    if (status === 200) break;
    clock.advance(15 * minuteMs);
    const later = place === 9 ? right : code();
    const challenge_token = await challengeOf(node, email);
    assert.equal((await post('/auth/login/2fa', { challenge_token, code: later })).status, 200, 'what was refused was not used up');
  }
});

test('wrong codes during the setup of a second factor are counted', async (t) => {
  const { post, register, newEmail } = await open(t);
  const { access_token } = await register(newEmail(), password);
  await post('/auth/2fa/enroll', undefined, access_token);
  const answers = await Promise.all(Array.from({ length: 8 }, () => post('/auth/2fa/confirm', { code: 'abcdef' }, access_token)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [400, 400, 400, 400, 400, 429, 429, 429]);
});

test('of concurrent confirmations with one right code one succeeds, and the others say that the second factor is confirmed', async (t) => {
  const { post, register, newEmail, clock } = await open(t);
  const { access_token } = await register(newEmail(), password);
  const app = URI.parse((await post('/auth/2fa/enroll', undefined, access_token)).json.otpauth_url);
  assert.ok('period' in app);
  const code = app.generate({ timestamp: clock.nowMs() });
  const answers = await Promise.all(Array.from({ length: 4 }, () => post('/auth/2fa/confirm', { code }, access_token)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  for (const { status, json } of answers) if (status === 409) assert.equal(json.detail, 'The second factor is confirmed already');
});

test('removing a second factor needs a code, and an unconfirmed one has no effect', async (t) => {
  const node = await open(t);
  const { post, register, login, newEmail } = node;
  const { email, access_token, code } = await withSecondFactor(node);
  assert.equal((await post('/auth/2fa/disable', { code: '12345' }, access_token)).status, 400);
  assert.equal((await post('/auth/2fa/disable', { code: code() }, access_token)).status, 200);
  assert.equal(typeof (await login(email)).json.access_token, 'string');

  const other = newEmail();
  const begun = await register(other, password);
  assert.equal((await post('/auth/2fa/confirm', { code: '000000' }, begun.access_token)).status, 409, 'nothing was begun');
  await post('/auth/2fa/enroll', undefined, begun.access_token);
  assert.equal((await post('/auth/2fa/confirm', { code: 'abcdef' }, begun.access_token)).status, 400);
  assert.equal((await post('/auth/2fa/disable', { code: '000000' }, begun.access_token)).status, 400);
  assert.equal(typeof (await login(other)).json.access_token, 'string');
});

test('a challenge is valid for five minutes, only for a code, and not after a change of the password', async (t) => {
  const node = await open(t);
  const { post, clock, request, mail } = node;
  const { email, code } = await withSecondFactor(node);
  const challenge_token = await challengeOf(node, email);
  assert.equal((await request('GET', '/v1/auth/me', challenge_token)).status, 401);
  const bent = `${challenge_token.slice(0, 60)}${challenge_token[60] === 'A' ? 'B' : 'A'}${challenge_token.slice(61)}`;
  assert.equal((await post('/auth/login/2fa', { challenge_token: bent, code: code() })).status, 401);
  await post('/auth/forgot-password', { email });
  await node.runtime.commit.drained();
  await until(() => mail.resets.length > 0, 'the mail');
  const token = /^v4\.public\.\S+$/m.exec(mail.resets[0]!.text)![0];
  assert.equal((await post('/auth/reset-password', { token, password: 'another horse' })).status, 200);
  assert.equal((await post('/auth/login/2fa', { challenge_token, code: code() })).status, 401);
  const fresh = (await node.login(email, 'another horse')).json.challenge_token;
  clock.advance(300_000);
  assert.equal((await post('/auth/login/2fa', { challenge_token: fresh, code: code() })).status, 401);
});

test('the second factor can be managed only with a session', async (t) => {
  const node = await open(t);
  const { post, register, createKey, newEmail } = node;
  const { access_token } = await register(newEmail(), password);
  const { key } = await createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  for (const path of ['/auth/2fa/enroll', '/auth/2fa/confirm', '/auth/2fa/disable']) {
    assert.equal((await post(path, { code: '000000' }, key)).status, 403, path);
    assert.equal((await post(path, { code: '000000' })).status, 401, path);
  }
});

/** What a camera would read off the SVG. */
function readPicture(svg: string): string {
  const size = Number(/viewBox="0 0 (\d+) \d+"/.exec(svg)![1]);
  const scale = 4;
  const side = size * scale;
  const data = new Uint8Array(side * side * 4).fill(255);
  for (const [x, y] of darkModules(svg)) {
    for (let dy = 0; dy < scale; dy++)
      for (let dx = 0; dx < scale; dx++)
        data.fill(0, ((y * scale + dy) * side + x * scale + dx) * 4, ((y * scale + dy) * side + x * scale + dx) * 4 + 3);
  }
  return decodeQr({ width: side, height: side, data });
}

/** Of a path of squares `M2 2h1v1H2Zm1 0h1v1H3Z…`. */
function* darkModules(svg: string): Generator<[number, number]> {
  let [x, y] = [0, 0];
  for (const [, kind, first, second] of svg.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1/g)) {
    [x, y] = kind === 'M' ? [Number(first), Number(second)] : [x + Number(first), y + Number(second)];
    yield [x, y];
  }
}
