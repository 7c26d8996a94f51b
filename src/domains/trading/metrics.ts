/** The counters of trading on a node, and its metrics. */
import { CountBy, Distribution } from '../../counts.ts';
import { AppError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { EventDraft } from '../../storage/commit-unit.ts';

const endings: readonly string[] = ['filled', 'cancelled', 'rejected', 'expired'];
const reasons: readonly string[] = ['unknown_outcome', 'lost_order', 'position_mismatch', 'stuck_cancel', 'overfilled', 'credentials'];

export class TradingStats {
  readonly ended = new CountBy(['status']);
  fills = 0;
  /** By the type of the 422, or by the code of the error. */
  readonly refused = new CountBy(['type']);
  readonly attention = new CountBy(['reason']);
  readonly brokerCalls = new CountBy(['broker', 'call', 'outcome'], 200);
  readonly marks = new MarkStats();
  /** Orders that brokers may have, of the connections in this node's shards, as of the last poll. */
  openAtBrokers = 0;
  readonly backtestS = new Distribution([0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160]);

  constructor() {
    // Initialised with 0, so that the first event is an increase.
    for (const status of endings) this.ended.add([status], 0);
    for (const reason of reasons) this.attention.add([reason], 0);
  }

  committed(events: readonly Pick<EventDraft, 'type' | 'data'>[]): void {
    for (const { type, data } of events) {
      if (type.startsWith('trade.')) this.moved(type.slice('trade.'.length));
      else if (type === 'trading.attention') this.attention.add([reasonIn(data)]);
    }
  }

  /** Returns the result of `work`; counts a refusal. */
  async countRefusal<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) this.refused.add([error.code === 'invalid' ? (error.issues?.[0]?.type ?? 'invalid') : error.code]);
      throw error;
    }
  }

  /** Returns the result of `work`; records its duration, however it ends. */
  async timeBacktest<T>(work: () => Promise<T>): Promise<T> {
    const begunAtMs = performance.now();
    try {
      return await work();
    } finally {
      this.backtestS.record((performance.now() - begunAtMs) / 1_000);
    }
  }

  private moved(status: string): void {
    if (status === 'filled' || status === 'partially_filled') this.fills++;
    if (endings.includes(status)) this.ended.add([status]);
  }
}

/** Rounds in which a node marks its trading accounts. */
export class MarkStats {
  readonly durationS = new Distribution([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]);
  /** Accounts of the last full round. */
  accounts = 0;
  /** Orders held by this service, not those at brokers. */
  openOrders = 0;
  private lastBeganAtMs: number | null = null;

  /** The node begins to mark accounts, and counts as behind from now on. */
  start(): void {
    this.lastBeganAtMs = performance.now();
  }

  /** A round has marked every account. */
  completed(round: { beganAtMs: number; accounts: number; openOrders: number }): void {
    this.lastBeganAtMs = round.beganAtMs;
    this.accounts = round.accounts;
    this.openOrders = round.openOrders;
    this.durationS.record((performance.now() - round.beganAtMs) / 1_000);
  }

  /** The greatest age of the prices with which every account was marked; null before the first round is due. */
  get ageS(): number | null {
    return this.lastBeganAtMs === null ? null : (performance.now() - this.lastBeganAtMs) / 1_000;
  }
}

/** The sources of the metrics. */
export type TradingMetricsParts = { stats: TradingStats; backtests: { readonly size: { running: number; waiting: number } } };

export function addTradingMetrics(metrics: Metrics, { stats, backtests }: TradingMetricsParts): void {
  metrics.counter('troupe_trading_orders_ended_total', 'Orders that ended, by final state', () => stats.ended.read());
  metrics.counter('troupe_trading_fills_total', 'Fills of orders', () => stats.fills);
  metrics.counter('troupe_trading_refusals_total', 'Orders and changes of orders that were refused, by type', () => stats.refused.read());
  metrics.counter(
    'troupe_trading_attention_total',
    'Situations that need a person, by reason: an order of unknown outcome, an order that ended without its broker’s report, positions that differ, a cancel that is not carried out, more filled than ordered, credentials',
    () => stats.attention.read(),
  );
  metrics.counter('troupe_broker_calls_total', 'Calls of brokers, by outcome', () => stats.brokerCalls.read());
  metrics.gauge('troupe_trading_accounts_marked', 'Trading accounts in the last round of marks of this node', () => stats.marks.accounts);
  metrics.gauge(
    'troupe_trading_open_orders',
    'Open orders of the accounts and connections of this node at the last poll, held here and at brokers',
    () => stats.marks.openOrders + stats.openAtBrokers,
  );
  metrics.gauge(
    'troupe_trading_mark_age_seconds',
    'Time since the beginning of the last complete round of marks of this node; the next round is due a second after it ends',
    () => stats.marks.ageS,
  );
  metrics.distribution('troupe_trading_mark_duration_seconds', 'Duration of a round of marks', () => stats.marks.durationS);
  metrics.gauge(
    'troupe_backtests_running',
    'Backtests and sweeps running on this node or in its computing processes',
    () => backtests.size.running,
  );
  metrics.distribution(
    'troupe_backtest_duration_seconds',
    'Duration of backtests and sweeps, without waiting for others of the same account',
    () => stats.backtestS,
  );
}

/** A label has few values: an unknown reason is `other`. */
function reasonIn(data: EventDraft['data']): string {
  const { reason } = JSON.parse(data.text) as { reason?: unknown };
  return typeof reason === 'string' && reasons.includes(reason) ? reason : 'other';
}
