/** A run over the API: its bars come from the market's file, which jumps from close to open, and its service is killed meanwhile. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Json } from '../../../support/json.ts';
import { quote, startTradingService } from '../../../support/market-data.ts';
import { until } from '../../../support/until.ts';

const site = await startTradingService({ after }, { AAPL: quote(100) });

test('a run decides at the close without requests, trades at the open, and continues after its service was killed, without trading a bar twice', {
  timeout: 240_000,
}, async () => {
  const trader = await site.trader();
  const code = 'let n = 0; function onBar() { n++; return n === 1 ? 0.5 : 1; }';
  const body = { name: 'Half, then all', type: 'custom', symbols: ['AAPL'], config: { code, capital: 10_000 } };
  const { id } = await trader.caller.json('POST', '/v1/trading/strategies', body);
  const to = async (at: string) => {
    site.market.setClock(at);
    await site.show();
  };
  const get = (): Promise<Json> => trader.caller.json('GET', `/v1/trading/strategies/${id}`);
  const done = async (bar: string): Promise<Json> => {
    let row: Json;
    await until(async () => (row = await get()).run?.last_bar === bar && !row.run.busy, `the bar of ${bar}`);
    return row!;
  };
  const holds = (quantity: number) => until(async () => (await trader.position('AAPL'))?.quantity === quantity, `${quantity} shares`);

  await to('2026-03-02T15:00:00Z');
  const started = await trader.caller.json('POST', `/v1/trading/strategies/${id}/start`, {});
  assert.equal(started.run.next_bar_at, '2026-03-02T21:00:00.000Z');
  await to('2026-03-02T21:00:00Z');
  const first = await done('2026-03-02');
  assert.deepEqual([first.run.targets[0].weight, first.run.next_bar_at], [0.5, '2026-03-03T21:00:00.000Z']);
  await to('2026-03-03T14:31:00Z');
  await site.show();
  await holds(first.run.targets[0].quantity);

  await to('2026-03-03T21:00:00Z');
  await site.service.kill();
  await site.service.restart();
  const second = await done('2026-03-03');
  await to('2026-03-04T14:31:00Z');
  await site.show();
  await holds(second.run.targets[0].quantity);
  const { data } = await trader.caller.json('GET', '/v1/trading/orders?limit=100');
  assert.deepEqual(
    data.map(({ status }: Json) => status),
    ['filled', 'filled'],
  );
  assert.equal((await trader.caller.json('POST', `/v1/trading/strategies/${id}/stop`)).status, 'stopped');
});
