/** Checks a caller's request for a backtest and converts it to the input of the computation. */
import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AnyName, Money } from '../../../edge/http/validate.ts';
import { AppError, type Issue } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { findFile } from '../../workspaces/contract.ts';
import { isoDate, parseDate, utcDay } from '../market/calendar.ts';
import { embeddedBarCount } from '../market/embedded-feed.ts';
import type { LocalMarket } from '../market/local-market.ts';
import { type Timeframe, timeframes } from '../market/port.ts';
import { parseSymbol } from '../market/symbol.ts';
import type { Strategy } from '../strategy/config.ts';
import type { BacktestRequest, ComputeInput } from './computation.ts';

const basisPoints = { minimum: 0, maximum: 1_000 };
const DateField = (description: string) => Type.String({ format: 'date', description });

/** Fields of every request for a backtest, besides the strategy. */
export const periodFields = {
  start_date: DateField('The first day, by UTC. Nothing from before it is seen'),
  end_date: DateField('The last day, by UTC'),
  timeframe: Type.Optional(Type.Enum([...timeframes], { description: 'Of the bars; without it that of the file, else `1d`' })),
  commission_bps: Type.Optional(
    Type.Number({ ...basisPoints, default: 0, description: 'Of what is traded, in basis points, paid out of cash' }),
  ),
  slippage_bps: Type.Optional(
    Type.Number({ ...basisPoints, default: 1, description: 'Fills are worse than the open by so many basis points' }),
  ),
  data_file_id: Type.Optional(
    Type.String({
      description:
        'A CSV file of a workspace (`date,open,high,low,close,volume`) with the bars of the first symbol, in place of the embedded market. Needs `workspaces.read`. What is wrong with its content fails the backtest, with the line',
    }),
  ),
  data_file_ids: Type.Optional(
    Type.Record(AnyName, Type.String(), {
      description: 'The same for several symbols: the id of a file for each; arbitrage needs both',
    }),
  ),
} as const;
export const InitialCapital = Money({ minimum: 0.01, maximum: 1e12, description: 'USD, at most two decimals' });

const PeriodBody = Type.Object(periodFields);
export type BacktestInput = Static<typeof PeriodBody> & { initial_capital: number };

export type RequestParts = { actors: ActorSystem; database: Database; market: LocalMarket };

/** The tested strategy. */
export type Subject = {
  strategy: Strategy;
  symbols: readonly string[];
  /** The timeframe in which the strategy runs in the market. */
  timeframe?: Timeframe;
};

/** Throws `invalid` for faults that need no lookup. */
export function checkPeriod({ start_date, end_date, data_file_id, data_file_ids }: BacktestInput, market: LocalMarket): void {
  const issues: Issue[] = [];
  const wrong = (field: string, msg: string, type: string, input: unknown) =>
    issues.push({ loc: ['body', field], msg, type, input, ctx: {} });
  const [start, end] = [parseDate(start_date), parseDate(end_date)];
  if (start === null) wrong('start_date', 'The date is not valid', 'value_error', start_date);
  if (end === null) wrong('end_date', 'The date is not valid', 'value_error', end_date);
  const hasFiles = data_file_id !== undefined || data_file_ids !== undefined;
  if (start !== null && end !== null) {
    if (end < start) wrong('end_date', 'The last day should not be before the first', 'greater_than_equal', end_date);
    else if (!hasFiles && start > utcDay(market.clock.nowMs()))
      wrong('start_date', `The market has no bars after ${isoDate(utcDay(market.clock.nowMs()))}`, 'date_in_future', start_date);
  }
  if (data_file_id !== undefined && data_file_ids !== undefined)
    wrong('data_file_ids', 'Give either data_file_id or data_file_ids', 'value_error', {});
  if (issues.length > 0) throw new AppError('invalid', issues[0]!.msg, { issues });
}

/** Rejects with `invalid`, and with `not_found` for a file of another account. `details` has passed `checkPeriod`. */
export async function requestOf(
  { actors, database, market }: RequestParts,
  accountId: string,
  { strategy, symbols, timeframe: ofStrategy }: Subject,
  details: BacktestInput,
  /** The field in which a caller has named the symbols. */
  symbolsAt: readonly string[],
): Promise<{ request: BacktestRequest; compute: ComputeInput & { sweep: null; strategy: Strategy } }> {
  const { start_date: start, end_date: end, initial_capital, commission_bps = 0, slippage_bps = 1 } = details;
  const files = filesBySymbol(strategy, symbols, details);
  const nowMs = market.clock.nowMs();
  let bars: ComputeInput['bars'];
  let contentKeys: string[] = [];
  if (files === null) {
    const timeframe = details.timeframe ?? ofStrategy ?? '1d';
    const unknown = symbols.find((symbol) => embeddedBarCount({ symbol, timeframe, start: firstDate, end: firstDate }, nowMs) === null);
    if (unknown !== undefined) throw issue(symbolsAt, `The market data has no symbol ${unknown}`, 'unknown_symbol', unknown);
    bars = { kind: 'embedded', symbols, timeframe, start, end, nowMs };
  } else {
    const found = await Promise.all([...files.values()].map((id) => findFile({ actors, database }, id)));
    contentKeys = found.map((file) => {
      if (file?.accountId !== accountId) throw new AppError('not_found', 'File not found');
      return file.contentKey;
    });
    const named = [...files.keys()].map((symbol) => ({ symbol, assetClass: parseSymbol(symbol)!.assetClass }));
    bars = { kind: 'csv', files: named, start, end, timeframe: details.timeframe ?? null };
  }
  const used = files === null ? symbols : [...files.keys()];
  const terms = { initialCapital: initial_capital, commissionBps: commission_bps, slippageBps: slippage_bps };
  const title = `${strategy.type} ${used.slice(0, 5).join(', ')}${used.length > 5 ? ', …' : ''}, ${start} to ${end}`;
  return {
    request: {
      strategy: strategy.type,
      config: strategy.type === 'custom' ? null : strategy.config,
      symbols: used,
      timeframe: bars.timeframe,
      start_date: start,
      end_date: end,
      initial_capital,
      commission_bps,
      slippage_bps,
      data_file_id: details.data_file_id ?? null,
      data_file_ids: details.data_file_ids ?? null,
    },
    compute: { accountId, title, strategy, terms, bars, contentKeys, sweep: null },
  };
}

const firstDate = '2001-01-02';

/** The file of each symbol, in the order of the strategy's symbols; null if the bars come from the market. */
function filesBySymbol(strategy: Strategy, symbols: readonly string[], details: BacktestInput): Map<string, string> | null {
  const { data_file_id: single, data_file_ids: several } = details;
  if (single !== undefined) {
    if (strategy.type === 'arbitrage')
      throw issue(['body', 'data_file_id'], 'Arbitrage needs the bars of two symbols: use data_file_ids', 'value_error', single);
    return new Map([[symbols[0]!, single]]);
  }
  if (several === undefined) return null;
  const given = new Map(Object.entries(several).map(([name, id]) => [parseSymbol(name)?.symbol ?? name, id]));
  const unexpected = [...given.keys()].find((symbol) => !symbols.includes(symbol));
  if (unexpected !== undefined)
    throw issue(['body', 'data_file_ids', unexpected], 'This is not a symbol of the strategy', 'value_error', unexpected, {
      allowed: [...symbols],
    });
  const found = symbols.filter((symbol) => given.has(symbol));
  const lacking = strategy.type === 'arbitrage' ? symbols.find((symbol) => !given.has(symbol)) : symbols[found.length === 0 ? 0 : -1];
  if (lacking !== undefined) throw issue(['body', 'data_file_ids', lacking], 'Field required', 'missing', null);
  return new Map(found.map((symbol) => [symbol, given.get(symbol)!]));
}

function issue(loc: readonly string[], msg: string, type: string, input: unknown, ctx: Record<string, unknown> = {}): AppError {
  return new AppError('invalid', msg, { issues: [{ loc: [...loc], msg, type, input, ctx }] });
}
