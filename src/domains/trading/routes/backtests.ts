/** Backtests: created, listed, read with their curves and files, cancelled. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { hasScope, type Principal } from '../../../edge/auth/principal.ts';
import { contentDisposition } from '../../../edge/http/download.ts';
import { exampleId } from '../../../edge/http/examples.ts';
import type { HttpRequest, HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { beginBacktest } from '../backtest/begin.ts';
import { Backtest, type BacktestRow } from '../backtest/entity.ts';
import { backtest } from '../backtest/messages.ts';
import { type BacktestInput, checkPeriod, InitialCapital, periodFields } from '../backtest/request.ts';
import type { ResultFile, StoredResults } from '../backtest/stored-results.ts';
import { type NamedSubject, namedSubject, storedSubject } from '../backtest/subject.ts';
import { tradingIds } from '../ids.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { symbolPattern } from '../market/symbol.ts';
import { BacktestSummary, BacktestView, backtestSummary, backtestView } from './backtest-view.ts';

export type BacktestRouteParts = { actors: ActorSystem; database: Database; clock: Clock; market: LocalMarket; results: StoredResults };

const base = '/trading/backtests';
const one = `${base}/{id}` as const;
const StrategyVersion = Type.Optional(Type.Integer({ minimum: 1, description: 'Default: the newest' }));
/** The request for a backtest by the name of a strategy. */
export const namedFields = {
  symbol: Type.String({ maxLength: 32, pattern: symbolPattern, examples: ['AAPL'] }),
  strategy: Type.String({
    minLength: 1,
    maxLength: 64,
    examples: ['momentum'],
    description: 'momentum, mean_reversion, arbitrage, custom, or the id of a strategy',
  }),
  config: Type.Optional(
    Type.Record(AnyName, Type.Unknown(), {
      examples: [{ lookback: 20 }],
      description: 'Of the type, as for a strategy. What is left out: lookback 20, z_entry 2, z_exit 0.5; pair and code have to be given',
    }),
  ),
};

export function backtestRoutes(parts: BacktestRouteParts): AnyRoute[] {
  const { actors, database, clock, market, results } = parts;

  const list = route({
    method: 'GET',
    path: base,
    summary: 'List backtests, newest first',
    description: `Without their curves. ${modeNote}`,
    scope: 'trading.read',
    query: Type.Object({
      ...PageQuery.properties,
      strategy_id: Type.Optional(Type.String({ pattern: '^stg_[0-9a-z]{26}$', description: 'Only those of this strategy' })),
    }),
    responses: { 200: PageOf(BacktestSummary) },
    async handler({ principal: { accountId, mode }, query: { limit, offset, strategy_id: strategyId } }) {
      const where = { accountId, mode, ...(strategyId !== undefined && { strategyId }) };
      const [rows, total] = await database.listPage(accountId, Backtest, where, { limit, offset });
      const data = rows.map((row) => backtestSummary(row as BacktestRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Test a strategy on the past',
    description:
      'The response has the status `running`. Get the backtest to see its end, or use the events backtest.completed and backtest.failed. Four backtests of an account run at once, the others wait. A signal of one bar is filled at the open of the next; the same request has the same result. Several symbols share the equity equally.',
    scope: 'trading.write',
    errors: [404],
    body: Type.Object(
      { strategy_id: Type.String(), strategy_version: StrategyVersion, initial_capital: InitialCapital, ...periodFields },
      { examples: [{ strategy_id: exampleId('stg_'), start_date: '2025-01-01', end_date: '2025-12-31', initial_capital: 100_000 }] },
    ),
    responses: { 201: BacktestView },
    authorize: ({ principal, body }) => mayReadFiles(principal, body),
    async handler(context) {
      const { principal, body } = context;
      mayReadFiles(principal, body);
      checkPeriod(body, market);
      const subject = await storedSubject(parts, principal, body.strategy_id, body.strategy_version);
      return begin(context, subject, body, ['body', 'strategy_id']);
    },
  });

  const createNamed = route({
    method: 'POST',
    path: '/trading/backtest',
    summary: 'Test a type of strategy on one symbol',
    description: 'As POST /trading/backtests, without a strategy that is stored.',
    scope: 'trading.write',
    errors: [404],
    body: Type.Object(
      { ...namedFields, initial_capital: Type.Optional(InitialCapital), ...periodFields },
      { examples: [{ symbol: 'AAPL', strategy: 'momentum', timeframe: '1d', start_date: '2025-01-01', end_date: '2025-12-31' }] },
    ),
    responses: { 201: BacktestView },
    authorize: ({ principal, body }) => mayReadFiles(principal, body),
    async handler(context) {
      const { principal, body } = context;
      mayReadFiles(principal, body);
      const input = { initial_capital: 100_000, ...body };
      checkPeriod(input, market);
      return begin(context, await namedSubject(parts, principal, body), input, ['body', 'symbol']);
    },
  });

  const get = route({
    method: 'GET',
    path: one,
    summary: 'Get a backtest',
    extension: true,
    scope: 'trading.read',
    responses: { 200: BacktestView },
    async handler({ principal, params }) {
      const row = await own(principal, params.id);
      return answer(200, backtestView(row, row.status === 'complete' ? JSON.parse(await results.text(row.id, 'equity.json')) : null));
    },
  });

  const cancel = route({
    method: 'POST',
    path: `${one}/cancel`,
    summary: 'Cancel a backtest',
    description: 'Its status becomes `failed`, with an error that says so. 409: it has already ended.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    responses: { 200: BacktestView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, tradingIds.backtest);
      return answer(200, backtestView(await actors.ask(backtest, id, 'cancel', null, { commandId }), null));
    },
  });

  const file = (name: ResultFile, type: string, summary: string, description: string) =>
    route({
      method: 'GET',
      path: `${one}/${name}`,
      summary,
      description,
      extension: true,
      scope: 'trading.read',
      errors: [409],
      responses: { 200: null },
      contentTypes: { 200: type },
      async handler({ principal, params, request }) {
        const row = await own(principal, (params as unknown as { id: string }).id);
        if (row.status !== 'complete') throw new AppError('conflict', `The backtest is ${row.status}: it has no results`);
        if (row.files?.[name] === undefined)
          throw new AppError('not_found', 'The file is not kept any more; the same request makes the same file again');
        return sendResult(results, request, row.id, name, type);
      },
    });

  return [
    list,
    create,
    createNamed,
    get,
    cancel,
    file('equity.csv', 'text/csv', 'Download the equity after every bar', '`date,equity`, whole.'),
    file(
      'trades.csv',
      'text/csv',
      'Download the trades of a backtest',
      'One line each round trip: `symbol,side,entry_date,exit_date,quantity,entry_price,exit_price,commission,profit`. `exit_date` is empty where it is open at the end.',
    ),
    file('equity.svg', 'image/svg+xml', 'Download a chart of the equity', 'An SVG image.'),
  ];

  async function begin(
    context: Parameters<typeof commandIds>[0] & { principal: Principal },
    subject: NamedSubject,
    input: BacktestInput,
    symbolsAt: string[],
  ) {
    const ids = commandIds(context, tradingIds.backtest, clock.nowMs());
    return answer(201, backtestView(await beginBacktest(parts, context.principal, subject, input, { ...ids, symbolsAt }), null));
  }

  async function own(principal: Principal, id: string): Promise<BacktestRow> {
    const row = id.startsWith(tradingIds.backtest) ? await actors.query(backtest, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Backtest');
  }
}

/** Throws `forbidden` for a caller who names files without the scope to read them. */
export function mayReadFiles(principal: Principal, input: { data_file_id?: string; data_file_ids?: Record<string, string> }): void {
  if (input.data_file_id === undefined && input.data_file_ids === undefined) return;
  if (!hasScope(principal, 'workspaces.read')) throw new AppError('forbidden', 'Reading a data file needs the scope workspaces.read');
}

async function sendResult(results: StoredResults, request: HttpRequest, id: string, name: ResultFile, type: string): Promise<HttpResponse> {
  const headers = {
    'Content-Type': type,
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': contentDisposition(`${id}-${name}`),
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
  return { status: 200, headers, body: request.method === 'HEAD' ? null : await results.open(id, name) };
}
