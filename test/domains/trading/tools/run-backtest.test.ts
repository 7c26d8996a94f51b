/** run_backtest: the agent's result of a backtest, which runs once although the call is repeated. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import { loadConfig } from '../../../../src/config.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { backtestActor } from '../../../../src/domains/trading/backtest/backtest.ts';
import { computeBacktest } from '../../../../src/domains/trading/backtest/compute-effect.ts';
import { backtest } from '../../../../src/domains/trading/backtest/messages.ts';
import { removeOldFiles } from '../../../../src/domains/trading/backtest/old-files.ts';
import { BacktestRunner } from '../../../../src/domains/trading/backtest/runner.ts';
import { StoredResults } from '../../../../src/domains/trading/backtest/stored-results.ts';
import { openLocalMarket } from '../../../../src/domains/trading/market/local-market.ts';
import { strategyActor } from '../../../../src/domains/trading/strategy/strategy.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { noLog } from '../../../../src/log.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { openLocalFiles } from '../../../../src/storage/local-files.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

test('an agent gets the figures of a backtest, the same for a repeated call, or the reason of a refusal; old files are deleted', async (t) => {
  const folder = await temporaryFolder();
  const files = await openLocalFiles(folder.path);
  const market = openLocalMarket({ settings: loadConfig({}), log: noLog, system: { nowMs: () => Date.parse('2026-11-20T15:00:00Z') } });
  const results = new StoredResults(files);
  const actors = {
    ask: (...asked: never[]) => (node.actors.ask as (...asked: never[]) => Promise<never>)(...asked),
  } as unknown as ActorSystem;
  const database = { read: (query: never) => node.database.read(query) };
  const parts = { actors, database, files, results, log: noLog, runner: new BacktestRunner(inlineCompute) };
  const node = await testRuntime([backtestActor({ compute: computeBacktest(parts, backtest) }), strategyActor({} as never)]);
  t.after(async () => {
    await node.close();
    await market.close();
    await folder.remove();
  });
  const backtests = { ...node, market };
  const tool = tradingTools({ market, orderEntry: null as never, backtests }).find(({ name }) => name === 'run_backtest')!;
  const run = async (args: object, callId = 'call_1'): Promise<any> =>
    runTool(tool, args, { ...toolContext(memoryWorkspace()), callId }, (defect) => assert.fail(String(defect)));
  const asked = { symbol: 'AAPL', strategy: 'momentum', start_date: '2025-01-01', end_date: '2025-12-31' };
  const { result, isError } = await run(asked);
  assert.equal(isError, false);
  assert.deepEqual(
    [result.status, result.data_source, result.initial_capital, result.config],
    ['complete', 'embedded', 100_000, { lookback: 20 }],
  );
  assert.equal(typeof result.metrics.sharpe, 'number');
  assert.deepEqual((await run(asked)).result, result);
  const other = (await run(asked, 'call_2')).result;
  assert.notEqual(other.backtest_id, result.backtest_id);

  const filesOf = async (id: string) => Object.keys((await node.actors.query(backtest, id, 'get', null))!.files!);
  const [{ bytes }] = await node.sql(`select (files->>'equity.csv')::int + (files->>'trades.csv')::int as bytes from backtest limit 1`);
  await removeOldFiles({ actors, database, results }, 'acct_1', bytes);
  assert.deepEqual(await filesOf(result.backtest_id), ['equity.json', 'equity.svg'], 'of the older one only what is shown is kept');
  assert.deepEqual(await filesOf(other.backtest_id), ['equity.csv', 'trades.csv', 'equity.json', 'equity.svg']);
  await assert.rejects(results.text(result.backtest_id, 'equity.csv'), { code: 'not_found' });
  assert.equal(JSON.parse(await results.text(result.backtest_id, 'equity.json')).length, result.bars);

  const cases: [object, RegExp][] = [
    [{ symbol: 'NOSUCH' }, /symbol: The market data has no symbol NOSUCH/],
    [{ strategy: 'x' }, /strategy: Should be the id of a strategy/],
    [{ end_date: '2024-12-31' }, /end_date: /],
    [{ strategy: 'stg_01jny8e2zjv6x0r3k9m4t7w5ab' }, /Strategy not found/],
  ];
  for (const [change, error] of cases) assert.match((await run({ ...asked, ...change }, 'call_3')).result.error, error);
  // A file may hold text of others, with which the result would have to be marked.
  const ofFile = (await run({ ...asked, data_file_id: 'file_1', data_file_ids: { AAPL: 'file_1' } }, 'call_4')).result;
  assert.equal(ofFile.data_source, 'embedded', 'an agent tests no file');
});
