/** SECRET_KEY is changed while users are signed in: tokens of the earlier key are accepted as long as that key is. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createCookieSessions } from '../../../../src/domains/identity/auth/cookie-session.ts';
import { createRefreshTokens } from '../../../../src/domains/identity/auth/refresh-token.ts';
import { createTokens } from '../../../../src/edge/auth/tokens.ts';
import { HttpRequest } from '../../../../src/edge/http/message.ts';
import { Secrets } from '../../../../src/storage/secrets.ts';

const [before, after] = ['an earlier key of thirty-two characters', 'a later key of thirty-two characters too'];
const clock = { nowMs: () => 1_800_000_000_000 };
const sessionId = `ses_${'0'.repeat(26)}`;
const claims = { userId: 'usr_1', accountId: 'acct_1', sessionId };

test('tokens of an earlier or a future key are valid while that key is accepted, and not longer', async () => {
  const [old, changed, done, prepared] = await Promise.all([
    createTokens({ secretKey: before, clock }),
    createTokens({ secretKey: after, acceptedKeys: [before], clock }),
    createTokens({ secretKey: after, clock }),
    createTokens({ secretKey: before, acceptedKeys: [after], clock }),
  ]);
  const [early, late] = [await old.accessToken(claims), await changed.accessToken(claims)];
  assert.equal((await changed.readAccessToken(early))?.sessionId, sessionId);
  assert.equal((await prepared.readAccessToken(late))?.sessionId, sessionId);
  assert.equal((await done.readAccessToken(late))?.sessionId, sessionId);
  assert.deepEqual([await done.readAccessToken(early), await old.readAccessToken(late)], [null, null]);
});

test('every token is valid for its own purpose only', async () => {
  const tokens = await createTokens({ secretKey: after, clock });
  const made = {
    readAccessToken: await tokens.accessToken(claims),
    readCookieToken: await tokens.cookieToken(claims),
    readChallengeToken: await tokens.challengeToken({ userId: 'usr_1', accountId: 'acct_1', generation: 0 }),
    readResetToken: await tokens.resetToken({ userId: 'usr_1', resetId: 'req_1', expiresAtMs: clock.nowMs() + 1_000 }),
    readDownloadToken: await tokens.downloadToken({ userId: 'usr_1', accountId: 'acct_1', path: '/x', scope: 'tasks.read' }),
  };
  const readers = Object.keys(made) as (keyof typeof made)[];
  for (const reader of readers) {
    for (const purpose of readers)
      assert.equal((await tokens[reader](made[purpose])) !== null, reader === purpose, `${reader} of ${purpose}`);
  }
});

test('a footer that names another key, or none, is refused', async () => {
  const tokens = await createTokens({ secretKey: after, acceptedKeys: [before], clock });
  const token = await tokens.accessToken(claims);
  const [head, footer] = [token.slice(0, token.lastIndexOf('.')), token.slice(token.lastIndexOf('.') + 1)];
  const other = (await (await createTokens({ secretKey: before, clock })).accessToken(claims)).split('.').at(-1);
  for (const forged of [
    head,
    `${head}.`,
    `${head}.${other}`,
    `${head}.${footer}A`,
    `${head}.${Buffer.from('nobody').toString('base64url')}`,
  ])
    assert.equal(await tokens.readAccessToken(forged), null, forged);
});

test('refresh tokens, CSRF tokens and encrypted secrets of the earlier key are accepted too, and new ones use the later key', () => {
  const refresh = createRefreshTokens(before).issue(sessionId);
  assert.equal(createRefreshTokens(after, [before]).read(refresh.text)?.hash, refresh.hash);
  assert.equal(createRefreshTokens(after).read(refresh.text), null);

  const publicUrl = () => 'http://service.test';
  const token = createCookieSessions({ secretKey: before, publicUrl }).csrfToken(sessionId);
  const request = new HttpRequest('POST', '/', '', ['x-csrf-token', token], null, { getRemoteAddressAsText: () => new ArrayBuffer(0) });
  assert.equal(createCookieSessions({ secretKey: after, acceptedKeys: [before], publicUrl }).mayAct(request, sessionId), true);
  assert.equal(createCookieSessions({ secretKey: after, publicUrl }).mayAct(request, sessionId), false);

  const sealed = new Secrets(before).encrypt('test', 'words', 'row');
  const changed = new Secrets(after, [before]);
  assert.deepEqual([changed.decrypt('test', sealed, 'row'), changed.isCurrent(sealed)], ['words', false]);
  assert.equal(changed.isCurrent(changed.encrypt('test', 'words')), true);
  assert.throws(() => changed.decrypt('test', sealed, 'another row'), /changed, or belongs elsewhere/);
});
