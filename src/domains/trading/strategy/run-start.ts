/** The conditions for starting a strategy. */
import type { Principal } from '../../../edge/auth/principal.ts';
import { AppError, type Issue } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings } from '../../accounts/contract.ts';
import { mustChoose } from '../brokers/choose-broker.ts';
import { isoDate, utcDay } from '../market/calendar.ts';
import type { LocalMarket } from '../market/local-market.ts';
import type { SourceName } from '../market/port.ts';
import { parseSymbol } from '../market/symbol.ts';
import { mayTradeLive, mustBePaperInTest, type OrderEntryParts } from '../orders/order-entry.ts';
import { tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';
import { warmUpBars } from './config.ts';
import type { OrderMode, StrategyRow } from './entity.ts';
import type { StartRun } from './messages.ts';
import { classesOf, dateBefore } from './next-bar.ts';
import { decidingPart } from './versions.ts';

export type StartParts = { database: Database; market: LocalMarket; orderEntry: OrderEntryParts };
export type StartRequest = { mode: OrderMode; brokerId: string | null; acknowledge: boolean };

/** Running strategies of one account. */
const maxRuns = 50;
/** A run of code may last this long. */
const daysOfCode = 365;

/**
 * Throws `forbidden` and `invalid` if live trading is not allowed, `conflict` if a symbol has no price or no connected broker, or too many
 * strategies run, and the errors of choosing a broker.
 */
export async function prepareStart(
  { database, market, orderEntry }: StartParts,
  principal: Principal,
  row: StrategyRow,
  { mode, brokerId, acknowledge }: StartRequest,
): Promise<StartRun> {
  const { accountId } = principal;
  await market.ready;
  mustBePaperInTest(principal, mode);
  if (mode === 'live') {
    const settings = await orderEntry.actors.query(accountSettings, accountId, 'get', null);
    await mayTradeLive(orderEntry.actors, accountId, settings.liveTradingEnabled);
    if (!acknowledge && !(await isTested(database, row))) throw untested();
  }
  const connections = await orderEntry.connections.of(principal);
  const brokers: StartRun['brokers'] = {};
  const nowMs = market.clock.nowMs();
  const timeframe = row.settings.timeframe ?? '1d';
  const period = { timeframe, start: dateBefore(1, timeframe, nowMs), end: isoDate(utcDay(nowMs)), adjusted: true } as const;
  const deciding = decidingPart(row);
  // The oldest bars that a decision may need: code sees its whole run again.
  const reach =
    deciding.type === 'custom'
      ? isoDate(utcDay(nowMs) - daysOfCode)
      : dateBefore(warmUpBars(deciding), timeframe, nowMs, classesOf(row.symbols));
  const reaches = async (symbol: string, brokerKey: string) =>
    (await orderEntry.prices.barsOf?.(principal, { ...period, symbol, start: reach, end: reach }, brokerKey)) !== null;
  const hasHistory = async (symbol: string, brokerKey: string) => {
    const bars = await orderEntry.prices.barsOf?.(principal, { symbol, ...period }, brokerKey);
    return bars === undefined || bars === 'own' || (bars !== null && bars.bars.time.length > 0);
  };
  const sources = new Set<SourceName>();
  for (const symbol of row.symbols) {
    const { assetClass } = parseSymbol(symbol)!;
    if (brokers[assetClass] === undefined) {
      const { route, unready } = mustChoose(connections, { brokerId, mode, assetClass });
      if (unready !== null) throw new AppError('conflict', unready);
      brokers[assetClass] = route.brokerKey;
    }
    const brokerKey = brokers[assetClass];
    const quote = await orderEntry.prices.quoteOf(principal, symbol, brokerKey);
    if (quote === null) throw new AppError('conflict', `${symbol} is not traded here`);
    sources.add(quote.source);
    if (!(await hasHistory(symbol, brokerKey)) || (mode === 'live' && quote.source === 'embedded'))
      throw new AppError('conflict', `There is no history of the prices that ${symbol} is traded at`);
    if (!(await reaches(symbol, brokerKey)))
      throw new AppError('conflict', `The broker's ${timeframe} bars of ${symbol} do not go back far enough for this strategy`);
  }
  // Decisions based on one price history do not apply to prices of another.
  if (sources.size > 1 && sources.has('broker'))
    throw new AppError('conflict', 'The prices of some of its symbols are those of a broker, and those of others are not');
  if ((await runsOf(database, accountId)) >= maxRuns)
    throw new AppError('conflict', `At most ${maxRuns} strategies of an account run at once`);
  const equity = await equityOf(orderEntry, principal, brokers);
  const isOfBroker = sources.has('broker');
  return { orderMode: mode, version: row.version, nowMs: market.clock.nowMs(), brokers, equity, ...(isOfBroker && { source: 'broker' }) };
}

/** At the first of the brokers. */
async function equityOf({ actors }: OrderEntryParts, principal: Principal, brokers: StartRun['brokers']): Promise<number> {
  const brokerKey = Object.values(brokers)[0]!;
  const summary = await actors.query(tradingAccount, tradingAccountIdOf(principal), 'summary', { brokerKey });
  if (summary === null) throw new AppError('conflict', 'The broker connection has no figures yet', { retryAfterS: 1 });
  return Number(summary.equity);
}

async function runsOf(database: Database, accountId: string): Promise<number> {
  const { rows } = await database.read({
    name: 'runs_of_account',
    text: `select count(*)::int as count from strategy where account_id = $1 and status = 'running'`,
    values: [accountId],
  });
  return rows[0].count;
}

/** Whether this version has a completed backtest. */
async function isTested(database: Database, { id, accountId, version }: StrategyRow): Promise<boolean> {
  const { rows } = await database.read({
    name: 'backtest_of_version',
    text: `select 1 from backtest where account_id = $1 and strategy_id = $2 and strategy_version = $3 and status = 'complete' limit 1`,
    values: [accountId, id, version],
  });
  return rows.length > 0;
}

function untested(): AppError {
  const msg = 'This version has no completed backtest: run one, or send acknowledge as true';
  const issue: Issue = { loc: ['body', 'acknowledge'], msg, type: 'backtest_required', input: false, ctx: {} };
  return new AppError('invalid', msg, { issues: [issue] });
}
