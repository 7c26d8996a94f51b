/** get_quote: the prices that an agent gets. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadConfig } from '../../../../src/config.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { openLocalMarket } from '../../../../src/domains/trading/market/local-market.ts';
import { localPrices } from '../../../../src/domains/trading/market/prices.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { noLog } from '../../../../src/log.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

const nowMs = Date.parse('2026-11-20T15:00:00Z');

test('an agent gets the same quote as the API, and an error for an unknown symbol', async (t) => {
  const market = openLocalMarket({ settings: loadConfig({}), log: noLog, system: { nowMs: () => nowMs } });
  t.after(() => market.close());
  const tool = tradingTools({ market, orderEntry: { prices: localPrices(market) } as never, backtests: null as never }).find(
    ({ name }) => name === 'get_quote',
  )!;
  const quote = async (symbol: string): Promise<any> =>
    runTool(tool, { symbol }, toolContext(memoryWorkspace()), (defect) => assert.fail(String(defect)));
  const { result, isError } = await quote('BTC/USD');
  assert.equal(isError, false);
  const { symbol, asset_class, session, source, at } = result;
  assert.deepEqual([symbol, asset_class, session, source, at], ['BTC-USD', 'crypto', 'open', 'embedded', '2026-11-20T15:00:00.000Z']);
  assert.ok(result.bid < result.ask && result.tick > 0);
  for (const unknown of ['aapl', 'NOSUCH', '$$$']) assert.match((await quote(unknown)).result.error, /There is no symbol/, unknown);
});
