/** Backtests and sweeps as clients see them. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import type { BacktestRow, ComputationRow } from '../backtest/entity.ts';
import { rankings } from '../backtest/sweep.ts';
import { timeframes } from '../market/port.ts';
import { strategyTypes } from '../strategy/config.ts';
import type { SweepRow } from '../sweep/entity.ts';

const Time = Type.String({ format: 'date-time' });
const OrNull = <T extends TSchema>(schema: T, options: { description?: string } = {}) => Type.Union([schema, Type.Null()], options);
const Percent = Type.Number({ description: 'Percent' });

const Metrics = Type.Object({
  cagr_pct: OrNull(Type.Number(), { description: 'null: no finite number' }),
  sharpe: Type.Number(),
  max_drawdown_pct: Type.Number(),
  longest_drawdown_bars: Type.Integer(),
  trades: Type.Integer({ description: 'Round trips; one that is open at the end counts' }),
  win_rate_pct: Type.Number(),
  exposure_pct: Type.Number({ description: 'Bars with a holding at their close' }),
  turnover: Type.Number({ description: 'What was traded, in multiples of the mean equity' }),
});
const Figures = Type.Object({ final_value: Type.Number(), total_return_pct: Percent, metrics: Metrics });
const Parameters = Type.Record(Type.String(), Type.Number());
const CurvePoint = Type.Object({ date: Type.String({ examples: ['2025-01-02'] }), equity: Type.Number() });

const requestFields = {
  id: Type.String(),
  strategy_id: OrNull(Type.String(), { description: 'null: requested by the type of a strategy' }),
  strategy_version: OrNull(Type.Integer()),
  strategy: Type.Enum([...strategyTypes]),
  config: OrNull(Type.Object({}, { additionalProperties: true }), { description: 'null: code, identified by `code_hash`' }),
  symbols: Type.Array(Type.String()),
  timeframe: OrNull(Type.Enum([...timeframes]), { description: 'null: that of the file, which has not been read yet' }),
  start_date: Type.String({ format: 'date' }),
  end_date: Type.String({ format: 'date' }),
  initial_capital: Type.Number({ description: 'USD' }),
  commission_bps: Type.Number(),
  slippage_bps: Type.Number(),
  data_file_id: OrNull(Type.String()),
  data_file_ids: OrNull(Type.Record(Type.String(), Type.String())),
} satisfies TProperties;
const lifeFields = {
  status: Type.Enum(['running', 'complete', 'failed']),
  progress: Type.Integer({ description: 'Percent' }),
  error: OrNull(Type.String(), { description: 'Why it failed' }),
} satisfies TProperties;
const factFields = {
  bars: OrNull(Type.Integer({ description: 'Of all symbols together' })),
  data_source: OrNull(Type.Enum(['embedded', 'csv', 'columns'])),
  data_hash: OrNull(Type.String({ description: 'SHA-256 of all bars' })),
  engine_version: OrNull(Type.String()),
} satisfies TProperties;
const endFields = { mode: ModeField, created_at: Time, completed_at: OrNull(Time) } satisfies TProperties;

const summaryFields = {
  ...requestFields,
  final_value: OrNull(Type.Number({ description: 'USD, at the last close' })),
  total_return_pct: OrNull(Type.Number()),
  ...lifeFields,
  metrics: OrNull(Metrics),
  benchmark: OrNull(Type.Object({ final_value: Type.Number(), total_return_pct: Percent }), {
    description: 'All symbols bought in equal shares with the first order, same costs, and held',
  }),
  ...factFields,
  code_hash: OrNull(Type.String({ description: 'SHA-256 of type and configuration' })),
  first_bar: OrNull(Type.String({ examples: ['2025-01-02'] })),
  last_bar: OrNull(Type.String({ examples: ['2025-12-31'] })),
  periods_per_year: OrNull(Type.Number()),
  commission_paid: OrNull(Type.Number()),
  ...endFields,
};
export const BacktestSummary = Type.Object(summaryFields, { title: 'BacktestSummary' });
export const BacktestView = Type.Object(
  {
    ...summaryFields,
    equity_curve: OrNull(Type.Array(CurvePoint), { description: 'After each bar, at most 5,000 points' }),
    equity_curve_step: OrNull(
      Type.Integer({ description: 'Number of bars from one point to the next; the first and the last bar always have a point' }),
    ),
  },
  { title: 'Backtest' },
);

const Fold = Type.Object({
  first_bar: Type.String({ examples: ['2025-01-02'] }),
  last_bar: Type.String({ examples: ['2025-12-31'] }),
  parameters: Parameters,
  in_sample: Figures,
  out_of_sample: Figures,
});
const RunOfSweep = Type.Object({ parameters: Parameters, final_value: Type.Number(), total_return_pct: Percent, metrics: Metrics });
const sweepFields = {
  ...requestFields,
  parameters: Type.Record(Type.String(), Type.Array(Type.Number())),
  rank_by: Type.Enum([...rankings]),
  ...lifeFields,
  tried: OrNull(Type.Integer({ description: 'Number of runs' })),
  best_run: OrNull(RunOfSweep, { description: 'The best of many runs overstates the expected result, more so with more runs' }),
  walk_forward: OrNull(Type.Object({ folds: Type.Array(Fold), out_of_sample_return_pct: Percent }), {
    description: 'The result of choosing by past data only: for each fifth of the bars but the first, the run that was best before it',
  }),
  ...factFields,
  ...endFields,
};
export const SweepSummary = Type.Object(sweepFields, { title: 'SweepSummary' });
export const SweepView = Type.Object(
  { ...sweepFields, runs: OrNull(Type.Array(RunOfSweep), { description: 'The last parameter changes fastest' }) },
  { title: 'Sweep' },
);

export function backtestSummary(row: BacktestRow): Static<typeof BacktestSummary> {
  const { result } = row;
  const of = <K extends keyof NonNullable<typeof result>>(field: K) => result?.[field] ?? null;
  return {
    ...requestView(row),
    final_value: of('final_value'),
    total_return_pct: of('total_return_pct'),
    ...lifeView(row),
    metrics: of('metrics'),
    benchmark: of('benchmark'),
    ...factsView(row),
    code_hash: of('code_hash'),
    first_bar: of('first_bar'),
    last_bar: of('last_bar'),
    periods_per_year: of('periods_per_year'),
    commission_paid: of('commission_paid'),
    ...endView(row),
  };
}

export function backtestView(row: BacktestRow, curve: Static<typeof CurvePoint>[] | null): Static<typeof BacktestView> {
  return { ...backtestSummary(row), equity_curve: curve, equity_curve_step: row.result?.equity_curve_step ?? null };
}

export function sweepSummary(row: SweepRow): Static<typeof SweepSummary> {
  const { request, result } = row;
  return {
    ...requestView(row),
    parameters: Object.fromEntries(Object.entries(request.parameters).map(([name, values]) => [name, [...values]])),
    rank_by: request.rank_by,
    ...lifeView(row),
    tried: result?.tried ?? null,
    best_run: result?.best_run ?? null,
    walk_forward: result?.walk_forward ?? null,
    ...factsView(row),
    ...endView(row),
  };
}

export function sweepView(row: SweepRow, runs: Static<typeof RunOfSweep>[] | null): Static<typeof SweepView> {
  return { ...sweepSummary(row), runs };
}

function requestView({ id, strategyId, strategyVersion, request, result }: BacktestRow | SweepRow) {
  const { strategy, config, symbols, start_date, end_date, initial_capital, commission_bps, slippage_bps, data_file_id, data_file_ids } =
    request;
  return {
    id,
    strategy_id: strategyId,
    strategy_version: strategyVersion,
    strategy,
    config,
    symbols: [...symbols],
    timeframe: result?.timeframe ?? request.timeframe,
    start_date,
    end_date,
    initial_capital,
    commission_bps,
    slippage_bps,
    data_file_id,
    data_file_ids,
  };
}

function lifeView({ status, progress, error }: ComputationRow<unknown, unknown>) {
  return { status, progress, error };
}

function factsView({ result }: BacktestRow | SweepRow) {
  const { bars = null, data_source = null, data_hash = null, engine_version = null } = result ?? {};
  return { bars, data_source, data_hash, engine_version };
}

function endView({ mode, createdAt, completedAt }: ComputationRow<unknown, unknown>) {
  return { mode, created_at: isoTimestamp(createdAt), completed_at: completedAt === null ? null : isoTimestamp(completedAt) };
}
