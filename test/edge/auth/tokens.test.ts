import assert from 'node:assert/strict';
import test from 'node:test';
import { createTokens } from '../../../src/edge/auth/tokens.ts';
import { HandClock, secretKey } from '../../support/identity-node.ts';

const claims = { userId: 'usr_1', accountId: 'acct_1', sessionId: 'ses_1' };
const link = { accountId: 'acct_1', userId: 'usr_1', path: '/workspaces/ws_1/files/wsf_1', scope: 'workspaces.read' };

test('an access token is read back on every node with the same secret key', async () => {
  const clock = new HandClock();
  const token = await (await createTokens({ secretKey, clock })).accessToken(claims);
  const read = await (await createTokens({ secretKey, clock })).readAccessToken(token);
  assert.deepEqual(read, { ...claims, expiresAtMs: clock.nowMs() + 3_600_000 });
});

test('an access token is valid to its last millisecond and not longer', async () => {
  const clock = new HandClock();
  const tokens = await createTokens({ secretKey, clock });
  const token = await tokens.accessToken(claims);
  clock.advance(3_599_999);
  assert.notEqual(await tokens.readAccessToken(token), null);
  clock.advance(1);
  assert.equal(await tokens.readAccessToken(token), null);
});

test('a token with any one character changed is refused', async () => {
  const tokens = await createTokens({ secretKey, clock: new HandClock() });
  const token = await tokens.accessToken(claims);
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A';
    const altered = token.slice(0, at) + other + token.slice(at + 1);
    assert.equal(await tokens.readAccessToken(altered), null, `character ${at}`);
  }
});

test('a token signed with another key is refused, also under our key id', async () => {
  const clock = new HandClock();
  const tokens = await createTokens({ secretKey, clock });
  const forged = await (await createTokens({ secretKey: `${secretKey}!`, clock })).accessToken(claims);
  assert.equal(await tokens.readAccessToken(forged), null);
  const ourFooter = (await tokens.accessToken(claims)).split('.')[3]!;
  assert.equal(await tokens.readAccessToken([...forged.split('.').slice(0, 3), ourFooter].join('.')), null);
});

test('a download link is not accepted as an access token, and an access token is not accepted as a download link', async () => {
  const tokens = await createTokens({ secretKey, clock: new HandClock() });
  assert.equal(await tokens.readAccessToken(await tokens.downloadToken(link)), null);
  assert.equal(await tokens.readDownloadToken(await tokens.accessToken(claims)), null);
  assert.deepEqual(await tokens.readDownloadToken(await tokens.downloadToken(link)), link);
});

test('a text that is not a token is refused without an exception', async () => {
  const tokens = await createTokens({ secretKey, clock: new HandClock() });
  const token = await tokens.accessToken(claims);
  const bad = [
    '',
    '.',
    'v4.public.',
    'v4.public..',
    'v4.public.é.é',
    'v4.local.AAAA',
    'v3.public.AAAA',
    `${token}.x`,
    `${token}${'A'.repeat(10_000)}`,
  ];
  for (const text of [...bad, token.split('.').slice(0, 3).join('.'), token.replace('v4.public', 'v2.public')]) {
    assert.equal(await tokens.readAccessToken(text), null, text.slice(0, 40));
  }
});
