import assert from 'node:assert/strict';
import test from 'node:test';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import type { Plan } from '../../../../src/plans.ts';
import { setOverrides } from '../../../../src/storage/account-overrides.ts';
import { startIdentityNode } from '../../../support/identity-node.ts';
import { until } from '../../../support/until.ts';

const defaults = {
  auto_approve_threshold: 0,
  live_trading_enabled: false,
  max_position_size: 25_000,
  daily_loss_limit: 2_500,
  price_collar_pct: 10,
  market_collar_pct: 1,
  redirect_uris: [],
  timezone: 'UTC',
  trust_tool_content: false,
};

test('settings have their defaults until a session changes them, each separately, for one account', async (t) => {
  const { request, register, createKey } = await startIdentityNode(t);
  const ann = await register('ann@example.com');
  const bob = await register('bob@example.com');
  const get = async (token: string) => (await request('GET', '/v1/settings', token)).json();
  const patch = async (body: unknown, token: string | null = ann.access_token) => {
    const response = await request('PATCH', '/v1/settings', token, body);
    return { status: response.status, json: (await response.json()) as any };
  };
  assert.deepEqual(await get(ann.access_token), defaults);
  const first = {
    auto_approve_threshold: 49.99,
    redirect_uris: ['https://app.example.com/back?x=1', 'http://localhost:3000/cb', 'http://[::1]/'],
  };
  assert.deepEqual((await patch(first)).json, { ...defaults, ...first });
  const second = {
    max_position_size: 0.01,
    daily_loss_limit: 1_000_000_000,
    price_collar_pct: 2.25,
    market_collar_pct: 0,
    timezone: 'Europe/Berlin',
    trust_tool_content: true,
  };
  assert.deepEqual((await patch(second)).json, { ...defaults, ...first, ...second });
  assert.deepEqual((await patch({})).json, { ...defaults, ...first, ...second });
  assert.deepEqual(await get(ann.access_token), { ...defaults, ...first, ...second });
  assert.deepEqual(await get(bob.access_token), defaults);

  const { key } = await createKey(ann.access_token, { name: 'ci', scopes: ['commerce.write', 'trading.write'] });
  assert.equal((await patch({ live_trading_enabled: true }, key)).status, 403);
  assert.equal((await request('GET', '/v1/settings', key)).status, 403);
  assert.equal((await patch({}, null)).status, 401);

  for (const [field, values] of Object.entries({
    auto_approve_threshold: [-1, 0.001, '5', null, 1e11],
    live_trading_enabled: ['true', 1, null],
    trust_tool_content: ['true', 1, null],
    max_position_size: [0, 0.009, 25.001, 1_000_000_000.01, '25', null],
    daily_loss_limit: [0, -1, 0.001, 1_000_000_001],
    price_collar_pct: [-0.01, 100.01, 1.001, '10'],
    market_collar_pct: [-1, 101],
    redirect_uris: [
      'https://a.example',
      ['http://example.com'],
      ['https://user:pass@a.example'],
      ['https://a.example/#x'],
      ['javascript:alert(1)'],
      ['http://127.0.0.1.example.com'],
      ['nonsense'],
      [' https://a.example'],
      ['https://a.example/\r\nX-Evil: 1'],
      ['https://a.example/\tb'],
      [`https://a.example/${'x'.repeat(2_000)}`],
      ['https://a.example', 'https://a.example'],
      Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`),
    ],
    timezone: ['Mars/Olympus', '+01:00', '', 'Europe/Berlin ', 7],
  })) {
    for (const value of values) {
      const { status, json } = await patch({ [field]: value });
      assert.equal(status, 422, `${field} ${JSON.stringify(value).slice(0, 60)}`);
      assert.equal(json.detail[0].loc[1], field);
    }
  }
  assert.deepEqual(await get(ann.access_token), { ...defaults, ...first, ...second });
});

test('trading with real money needs a plan that includes it: enabling it is 402 otherwise, and a plan without it disables it', async (t) => {
  const { request, register, actors, overrides, database } = await startIdentityNode(t);
  const { access_token: token } = await register('ann@example.com');
  const accountId = ((await (await request('GET', '/v1/auth/me', token)).json()) as { account_id: string }).account_id;
  const on = async (body: object) => (await request('PATCH', '/v1/settings', token, body)).status;
  const shown = async () =>
    ((await (await request('GET', '/v1/settings', token)).json()) as { live_trading_enabled: boolean }).live_trading_enabled;
  const planIs = async (plan: Plan) => {
    await setOverrides(database, accountId, { plan });
    await overrides.poll();
    await until(async () => (await actors.query(account, accountId, 'get', null))?.overrides?.plan === plan, plan);
  };

  assert.equal(await on({ live_trading_enabled: true, timezone: 'Europe/Berlin' }), 402);
  assert.deepEqual([await shown(), await on({ live_trading_enabled: false })], [false, 200]);
  for (const plan of ['pro', 'power', 'business'] as const) {
    await planIs(plan);
    assert.deepEqual([await on({ live_trading_enabled: true }), await shown()], [200, true], plan);
  }
  await planIs('pro');
  assert.equal(await shown(), true, 'a lesser plan that has it too');
  await planIs('free');
  await until(async () => (await shown()) === false, 'the setting is off');
  assert.equal(await on({ live_trading_enabled: true }), 402);
  await planIs('pro');
  assert.equal(await shown(), false, 'a better plan does not switch it on');
});
