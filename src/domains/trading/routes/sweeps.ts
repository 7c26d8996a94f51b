/** Sweeps: one strategy tested over a grid of parameters. */
import Type from 'typebox';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError, type Issue } from '../../../errors.ts';
import { requireCapacity } from '../backtest/open-computations.ts';
import { checkPeriod, InitialCapital, periodFields, requestOf } from '../backtest/request.ts';
import { namedSubject } from '../backtest/subject.ts';
import { combinations, gridIssues, rankings, withParameters } from '../backtest/sweep.ts';
import { tradingIds } from '../ids.ts';
import { Sweep, type SweepRow } from '../sweep/entity.ts';
import { sweep } from '../sweep/messages.ts';
import { SweepSummary, SweepView, sweepSummary, sweepView } from './backtest-view.ts';
import { type BacktestRouteParts, mayReadFiles, namedFields } from './backtests.ts';

const base = '/trading/sweeps';
const one = `${base}/{id}` as const;
const Values = Type.Array(Type.Number(), { minItems: 1, maxItems: 500 });
const Grid = Type.Record(AnyName, Values, {
  description: 'For each of lookback, z_entry and z_exit the values to try; every combination is a run, 500 at most',
});

export function sweepRoutes(parts: BacktestRouteParts): AnyRoute[] {
  const { actors, database, clock, market, results } = parts;

  const list = route({
    method: 'GET',
    path: base,
    summary: 'List sweeps, newest first',
    description: `Without their runs. ${modeNote}`,
    extension: true,
    scope: 'trading.read',
    query: PageQuery,
    responses: { 200: PageOf(SweepSummary) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const [rows, total] = await database.listPage(accountId, Sweep, { accountId, mode }, { limit, offset });
      const data = rows.map((row) => sweepSummary(row as SweepRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Test a strategy over a grid of parameters',
    description:
      'The best of many runs overstates the expected result: the result contains the number of runs, and the return of choosing by past data only. Get the sweep to see its end. Strategies with code cannot be swept.',
    extension: true,
    scope: 'trading.write',
    errors: [404],
    body: Type.Object(
      {
        ...namedFields,
        parameters: Grid,
        rank_by: Type.Optional(Type.Enum([...rankings], { default: 'sharpe' })),
        initial_capital: Type.Optional(InitialCapital),
        ...periodFields,
      },
      {
        examples: [
          {
            symbol: 'AAPL',
            strategy: 'momentum',
            start_date: '2025-01-01',
            end_date: '2025-12-31',
            parameters: { lookback: [10, 20, 50] },
          },
        ],
      },
    ),
    responses: { 201: SweepView },
    authorize: ({ principal, body }) => mayReadFiles(principal, body),
    async handler(context) {
      const { principal, body } = context;
      mayReadFiles(principal, body);
      const { accountId, mode } = principal;
      const { parameters: grid, rank_by = 'sharpe' } = body;
      const withDefaults = { initial_capital: 100_000, ...body };
      checkPeriod(withDefaults, market);
      const { strategyId, strategyVersion, ...subject } = await namedSubject(parts, principal, body);
      const { strategy } = subject;
      if (strategy.type === 'custom')
        throw invalid([
          { loc: ['body', 'strategy'], msg: 'Code has no parameters to vary', type: 'value_error', input: 'custom', ctx: {} },
        ]);
      const issues = gridIssues(strategy, grid, ['body', 'parameters']);
      if (issues.length > 0) throw invalid(issues);
      const first = withParameters(strategy, combinations(grid)[0]!);
      const { request, compute } = await requestOf(parts, accountId, { ...subject, strategy: first }, withDefaults, ['body', 'symbol']);
      await requireCapacity(database, 'sweep', accountId);
      const { id, commandId } = commandIds(context, tradingIds.sweep, clock.nowMs());
      const input = {
        accountId,
        mode,
        strategyId,
        strategyVersion,
        request: { ...request, config: strategy.config, parameters: grid, rank_by },
        compute: { ...compute, strategy: first, sweep: { grid, rankBy: rank_by } },
      };
      return answer(201, sweepView(await actors.ask(sweep, id, 'create', input, { commandId }), null));
    },
  });

  const get = route({
    method: 'GET',
    path: one,
    summary: 'Get a sweep',
    extension: true,
    scope: 'trading.read',
    responses: { 200: SweepView },
    async handler({ principal, params }) {
      const row = await own(principal, params.id);
      return answer(200, sweepView(row, row.status === 'complete' ? JSON.parse(await results.text(row.id, 'runs.json')) : null));
    },
  });

  const cancel = route({
    method: 'POST',
    path: `${one}/cancel`,
    summary: 'Cancel a sweep',
    description: 'Its status becomes `failed`, with an error that says so. 409: it has already ended.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    responses: { 200: SweepView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, tradingIds.sweep);
      return answer(200, sweepView(await actors.ask(sweep, id, 'cancel', null, { commandId }), null));
    },
  });

  return [list, create, get, cancel];

  async function own(principal: Principal, id: string): Promise<SweepRow> {
    const row = id.startsWith(tradingIds.sweep) ? await actors.query(sweep, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Sweep');
  }
}

function invalid(issues: Issue[]): AppError {
  return new AppError('invalid', issues[0]!.msg, { issues });
}
