/**
 * run_backtest: creates a backtest as POST /trading/backtest does, and waits for it. A repeated call with the same `callId` is the same
 * backtest.
 */
import { setTimeout as pause } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { AnyName } from '../../../edge/http/validate.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';
import { derivedId } from '../../../ids.ts';
import type { Tool } from '../../tasks/contract.ts';
import { beginBacktest } from '../backtest/begin.ts';
import type { BacktestRow } from '../backtest/entity.ts';
import { backtest } from '../backtest/messages.ts';
import { checkPeriod, InitialCapital, periodFields, type RequestParts } from '../backtest/request.ts';
import { namedSubject } from '../backtest/subject.ts';
import { tradingIds } from '../ids.ts';
import { backtestSummary } from '../routes/backtest-view.ts';
import { SymbolArgument } from './get-quote.ts';

const timeoutMs = 10 * 60_000;
const waitMs = timeoutMs - 30_000;
const { data_file_id: _, data_file_ids: __, ...period } = periodFields;
const Arguments = Type.Object({
  symbol: SymbolArgument,
  strategy: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'momentum, mean_reversion, arbitrage, custom, or the id of a stored strategy (stg_…)',
  }),
  config: Type.Optional(
    Type.Record(AnyName, Type.Unknown(), {
      description:
        'momentum {lookback}; mean_reversion {lookback, z_entry, z_exit}; arbitrage {pair: [A, B], lookback, z_entry, z_exit}; custom {code}: JavaScript with function onBar(bar, ctx) that returns the target weight from -1 to 1. Not with the id of a strategy',
    }),
  ),
  initial_capital: Type.Optional(InitialCapital),
  ...period,
});

export const runBacktest = (parts: RequestParts): Tool => ({
  name: 'run_backtest',
  agentTypes: ['analyst', 'trader'],
  description:
    'Tests a trading strategy on bars of the past and answers its figures: {backtest_id, status, final_value, total_return_pct, metrics, benchmark, ...}. Nothing is traded. ' +
    'data_source embedded means that the prices are made up: say so with every figure. The best of several tries looks better than it is: say how many you made. status failed comes with an error.',
  parameters: Arguments,
  need: { scope: 'trading.write' },
  highConsequence: false,
  repeatable: true,
  timeoutMs,
  async run(args: Static<typeof Arguments>, { accountId, authority: { mode }, callId, slotOwner, signal }) {
    const { market, actors } = parts;
    const owner = { accountId, mode };
    const withDefaults = { initial_capital: 100_000, ...args };
    const id = derivedId(tradingIds.backtest, slotOwner, callId);
    await market.ready;
    let row: BacktestRow | null = await actors.query(backtest, id, 'get', null);
    try {
      checkPeriod(withDefaults, market);
      row ??= await beginBacktest(parts, owner, await namedSubject(parts, owner, args), withDefaults, {
        id,
        symbolsAt: ['body', 'symbol'],
      });
    } catch (error) {
      if (!(error instanceof AppError) || errorCodes[error.code].http >= 500) throw error;
      const where = error.issues?.[0]?.loc.slice(1).join('.');
      throw new ToolError(where ? `${where}: ${error.message}` : error.message, { cause: error });
    }
    for (let waitedMs = 0, everyMs = 100; row.status === 'running' && waitedMs < waitMs; waitedMs += everyMs) {
      everyMs = Math.min(2_000, everyMs * 1.3);
      await pause(everyMs, undefined, { signal });
      row = (await actors.query(backtest, id, 'get', null)) ?? row;
    }
    const { id: backtest_id, ...summary } = backtestSummary(row);
    return { backtest_id, ...summary };
  },
});
