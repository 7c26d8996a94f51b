/** Name and e-mail address of a person: an address is one user's at every moment, whoever wants it at once. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { emailAddress } from '../../../src/actors/email-address/messages.ts';
import { startIdentityNode } from '../../support/identity-node.ts';

const password = 'correct horse battery';

async function open(t: TestContext) {
  const node = await startIdentityNode(t);
  const patch = async (token: string | null, body: unknown) => {
    const response = await node.request('PATCH', '/v1/auth/me', token, body);
    return { status: response.status, json: (await response.json()) as any };
  };
  const login = async (email: string) => (await node.request('POST', '/v1/auth/login', null, { email, password })).status;
  return { ...node, patch, login };
}

test('a person takes another name and address; the old address is free for others, and the session stays', async (t) => {
  const { patch, login, register, request } = await open(t);
  const ann = await register('ann@example.com', password);
  const changed = await patch(ann.access_token, { name: 'Ann', email: 'Anna@Example.com' });
  assert.deepEqual([changed.status, changed.json.name, changed.json.email], [200, 'Ann', 'Anna@Example.com']);
  assert.deepEqual(await (await request('GET', '/v1/auth/me', ann.access_token)).json(), changed.json);
  assert.deepEqual([await login('ANNA@example.com'), await login('ann@example.com')], [200, 401]);
  await register('ann@example.com', password);
  assert.equal(await login('ann@example.com'), 200);
  assert.equal((await patch(ann.access_token, { email: 'ann@example.com' })).status, 409);
  assert.equal((await patch(ann.access_token, { email: 'ANNA@example.com', name: null })).json.name, null);
  assert.equal((await patch(ann.access_token, {})).json.email, 'ANNA@example.com');
});

test('an address that is taken is refused as a conflict, and then nothing else is changed either', async (t) => {
  const { patch, register } = await open(t);
  const ann = await register('ann@example.com', password);
  await register('bob@example.com', password);
  assert.equal((await patch(ann.access_token, { email: 'BOB@example.com', name: 'Bob' })).status, 409);
  const { json } = await patch(ann.access_token, {});
  assert.deepEqual([json.email, json.name], ['ann@example.com', null]);
  for (const body of [{ email: 'nonsense' }, { email: null }, { name: '' }, { name: 'x'.repeat(101) }])
    assert.equal((await patch(ann.access_token, body)).status, 422, JSON.stringify(body));
});

test('of many who want one free address at once one gets it', async (t) => {
  const { patch, login, register } = await open(t);
  const people = await Promise.all(['a', 'b', 'c', 'd'].map((name) => register(`${name}@example.com`, password)));
  const answers = await Promise.all(people.map(({ access_token }) => patch(access_token, { email: 'best@example.com' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const names = ['a', 'b', 'c', 'd'];
  for (const [n, { status }] of answers.entries()) assert.equal(await login(`${names[n]}@example.com`), status === 200 ? 401 : 200);
});

test('a person who wants several addresses at once ends with one of them, and every other one is free', async (t) => {
  const { patch, login, register, actors } = await open(t);
  const { access_token } = await register('start@example.com', password);
  const wanted = ['w1@example.com', 'w2@example.com', 'w1@example.com', 'w3@example.com', 'w2@example.com'];
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(wanted.map((email) => patch(access_token, { email })));
    assert.ok(
      answers.every(({ status }) => status === 200 || status === 409),
      JSON.stringify(answers),
    );
    const { email } = (await patch(access_token, {})).json;
    for (const other of ['start@example.com', ...wanted]) {
      // A release is a message on its way.
      while ((await actors.query(emailAddress, other, 'isTaken', null)) !== (other === email)) await new Promise(setImmediate);
    }
    assert.equal(await login(email), 200);
  }
});

test('what was mailed to the old address opens nothing once the person has left it', async (t) => {
  const { patch, register, request, mail } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  await request('POST', '/v1/auth/forgot-password', null, { email: 'ann@example.com' });
  while (mail.sent.length === 0) await new Promise(setImmediate);
  const token = /^v4\.public\.\S+$/m.exec(mail.sent[0]!.text)![0];
  await patch(access_token, { email: 'anna@example.com' });
  assert.equal((await request('POST', '/v1/auth/reset-password', null, { token, password })).status, 400);
});

test('no key changes who a person is', async (t) => {
  const { patch, register, createKey } = await open(t);
  const { access_token } = await register('ann@example.com', password);
  const { key } = await createKey(access_token, { name: 'ci', scopes: ['tasks.read'] });
  assert.equal((await patch(key, { email: 'eve@example.com' })).status, 403);
  assert.equal((await patch(null, { email: 'eve@example.com' })).status, 401);
});
