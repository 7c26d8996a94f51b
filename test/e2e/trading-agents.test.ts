/** Agents that trade, in the whole service: the approval, another approval after a large change of the price, and the placed order. */
import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { Approval, EventBody } from '../support/bodies.ts';
import { callTool, finish } from '../support/openai-server.ts';
import { agentGroup, endStatuses, scriptedService } from '../support/scripted-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

test('an order of an agent needs approval, and another one after a large change of the price; a test key trades in test mode', {
  timeout: 300_000,
}, async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const path = join(folder.path, 'market.json');
  const market = async (ask: number) => {
    const quotes = { AAPL: { bid: ask - 0.02, ask, last: ask - 0.01, volume: 100_000 } };
    await writeFile(`${path}.new`, JSON.stringify({ now: '2026-11-18T15:00:00Z', quotes }));
    await rename(`${path}.new`, path);
  };
  await market(100);
  const { caller, begin, requestsOf } = await scriptedService(t, { MARKET_DATA_FILE: path });
  const trader = (...answers: ReturnType<typeof callTool>[]) => agentGroup([{ type: 'trader' }], () => answers);
  const order = { symbol: 'AAPL', side: 'buy', quantity: 10, order_type: 'market', client_order_id: 'of-an-agent' };
  const pendingOf = async (id: string, known: string[] = []) => {
    let found: Approval | undefined;
    await until(async () => {
      const task = await caller.json('GET', `/v1/tasks/${id}`);
      assert.ok(!endStatuses.includes(task.status), JSON.stringify(task));
      found = task.approvals.find((one: Approval) => one.status === 'pending' && !known.includes(one.id));
      return found !== undefined;
    }, 'an approval');
    return found!;
  };
  const approve = ({ agent_id, id }: Approval) => caller.json('POST', `/v1/agents/${agent_id}/approve/${id}`, { approved: true });

  const { id } = await begin('order', trader(callTool('get_quote', { symbol: 'AAPL' }), callTool('place_order', order), finish('done')), {
    autonomy_level: 50,
  });
  const first = await pendingOf(id);
  assert.equal(first.action, 'place_order');
  assert.match(
    first.summary,
    /^PAPER order: buy 10 AAPL, market, day, at embedded\.\nEstimate: 1000\.00 USD; ask 100, market open\.\nPosition limit: 1010\.00 USD/,
  );
  assert.equal((await caller.json('GET', '/v1/trading/orders')).total, 0);
  await market(105);
  await until(async () => (await caller.json('GET', '/v1/trading/quotes/AAPL')).ask === 105, 'the new price');
  await approve(first);
  const second = await pendingOf(id, [first.id]);
  assert.match(
    second.summary,
    /^The price has moved by 5\.00 % since this was approved, from 100 to 105: more than the collar of 1 %\.\nPAPER order/,
  );
  assert.equal((await caller.json('GET', '/v1/trading/orders')).total, 0, 'nothing was placed');
  await approve(second);
  const task = await caller.untilTask(id, endStatuses);
  assert.equal(task.status, 'complete', task.error);
  const { data } = await caller.json('GET', '/v1/trading/orders?client_order_id=of-an-agent');
  assert.equal(data.length, 1);
  const result = JSON.parse(String(requestsOf('order').at(-1)!.body.messages.at(-1)!.content));
  assert.deepEqual([result.mode, result.session, result.order.id, result.order.status], ['PAPER', 'open', data[0].id, 'accepted']);
  assert.equal(result.limits.daily_loss_remaining, 2_500);
  const { data: history } = await caller.json('GET', `/v1/tasks/${id}/events?limit=100`);
  const asked = history.filter(({ type }: EventBody) => type === 'approval.required').map((one: EventBody) => one.data.summary);
  assert.deepEqual(asked, [first.summary, second.summary]);

  const program = await caller.program('test', ['tasks.read', 'tasks.write', 'trading.read', 'trading.write']);
  const tested = await begin(
    'in-test',
    trader(callTool('place_order', { ...order, mode: 'paper' }), finish('done')),
    { autonomy_level: 100 },
    program,
  );
  assert.equal((await program.untilTask(tested.id, endStatuses)).status, 'complete');
  const [inTest] = (await program.json('GET', '/v1/trading/orders')).data;
  assert.deepEqual([inTest.mode, inTest.client_order_id], ['test', 'of-an-agent']);

  const reader = await caller.program('live', ['tasks.read', 'tasks.write', 'trading.read']);
  const refused = await begin('reader', trader(callTool('place_order', order), finish('not allowed')), { autonomy_level: 100 }, reader);
  await reader.untilTask(refused.id, endStatuses);
  assert.ok(JSON.stringify(requestsOf('reader').at(-1)!.body.messages).includes('trading.write'));
  assert.equal((await caller.json('GET', '/v1/trading/orders')).total, 1);
});
