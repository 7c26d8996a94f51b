/** The meaning of Slack's token answers and refusals. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { slack } from '../../../../src/domains/integrations/services/slack.ts';

const { tokensIn, errorIn } = slack.oauth!;

test('a consent for the app and the user returns two tokens, with all scopes of both', () => {
  const answer = {
    ...{
      ok: true,
      access_token: 'xoxb-1',
      token_type: 'bot',
      scope: 'chat:write,channels:history',
      refresh_token: 'xoxe-1',
      expires_in: 43_200,
    },
    authed_user: { id: 'U1', scope: 'search:read', access_token: 'xoxp-1', token_type: 'user' },
  };
  const { standard, user } = tokensIn!(answer);
  assert.deepEqual([standard.access_token, standard.refresh_token, standard.expires_in], ['xoxb-1', 'xoxe-1', 43_200]);
  assert.equal(user!.access_token, 'xoxp-1');
  assert.equal(standard.scope, 'chat:write,channels:history,search:read');
});

test('a consent for the user alone returns one token for all tools', () => {
  const { standard, user } = tokensIn!({ ok: true, authed_user: { id: 'U1', scope: 'search:read', access_token: 'xoxp-1' } });
  assert.deepEqual([standard.access_token, standard.scope, user], ['xoxp-1', 'search:read', null]);
});

test('an answer without a user, such as a renewal, is not changed', () => {
  const answer = { ok: true, access_token: 'xoxb-2', refresh_token: 'xoxe-2', expires_in: 43_200, scope: 'chat:write' };
  assert.deepEqual(tokensIn!(answer), { standard: answer, user: null });
  assert.deepEqual(tokensIn!({ ok: true, access_token: 'x', authed_user: { id: 'U1' } }).user, null);
});

test('refusals of a code, of a client and temporary ones are different failures', () => {
  assert.equal(errorIn!({ ok: false, error: 'invalid_code' }), 'invalid_grant');
  assert.equal(errorIn!({ ok: false, error: 'invalid_refresh_token' }), 'invalid_grant');
  assert.equal(errorIn!({ ok: false, error: 'bad_client_secret' }), 'invalid_client');
  assert.equal(errorIn!({ ok: false, error: 'internal_error' }), 'temporarily_unavailable');
  assert.equal(errorIn!({ ok: true, access_token: 'x' }), undefined);
});

test('a refused token is recognized from the body of a 200 answer', () => {
  const answer = (body: unknown) => ({ status: 200, headers: {}, body });
  for (const error of ['invalid_auth', 'token_expired', 'token_revoked', 'account_inactive'])
    assert.equal(slack.refusesToken!(answer({ ok: false, error })), true, error);
  for (const body of [{ ok: false, error: 'channel_not_found' }, { ok: true }, null, []])
    assert.equal(slack.refusesToken!(answer(body)), false);
});

test('each refusal has a type that an agent can act on', () => {
  const failure = (error: string) => slack.failureIn!({ status: 200, headers: {}, body: { ok: false, error } }, 0);
  assert.deepEqual(failure('name_taken'), { type: 'invalid', message: 'Slack refused: name_taken', field: 'name' });
  assert.deepEqual(failure('msg_too_long'), { type: 'invalid', message: 'Slack refused: msg_too_long', field: 'text' });
  const notInvited = failure('not_in_channel')!;
  assert.equal(notInvited.type, 'forbidden');
  assert.match(notInvited.message, /invite/);
  assert.equal(failure('constructor')!.type, 'invalid');
  assert.equal(slack.failureIn!({ status: 200, headers: {}, body: { ok: false } }, 0)!.type, 'invalid');
});
