/**
 * Safety net for event streams: once a second it compares the stored counters of accounts with subscribers here with those of the hub. It
 * finds committed events whose notification was lost, or was sent before the publisher knew of the subscriber. Only accounts with
 * subscribers are polled.
 */
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import type { StreamHub } from './stream-hub.ts';

export type CounterWatchParts = {
  hub: StreamHub;
  database: Pick<Database, 'read'>;
  log: Log;
  /** Milliseconds between two polls of all accounts. Default 1,000. */
  everyMs?: number;
};

const defaultEveryMs = 1_000;
/** Requests within this time are combined in one poll. */
const coalesceMs = 20;
const accountsPerQuery = 1_000;
/** Commits of a lost node may still complete: for this long, a poll is due this often. */
const frequentForMs = 1_000;
const frequentEveryMs = 100;

export class CounterPoller {
  /** For metrics: polls (one query for each thousand accounts), and accounts that were ahead of the hub. */
  readonly counts = { polls: 0, behind: 0 };
  private readonly parts: CounterWatchParts;
  private readonly everyMs: number;
  private readonly requested = new Set<string>();
  private allDueAtMs: number;
  private frequentUntilMs = 0;
  private state: 'waiting' | 'polling' | 'stopped' = 'waiting';
  private isFailing = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: CounterWatchParts) {
    this.parts = parts;
    this.everyMs = parts.everyMs ?? defaultEveryMs;
    this.allDueAtMs = performance.now() + this.everyMs;
    this.schedule();
  }

  /** Polls these accounts soon; those without subscribers are left out. */
  pollSoon(accountIds: Iterable<string>): void {
    for (const id of accountIds) if (this.parts.hub.listening.has(id)) this.requested.add(id);
    this.schedule();
  }

  /** A node may have died between a commit and its notification: polls all accounts soon, and repeatedly for a second. */
  pollFrequently(): void {
    const nowMs = performance.now();
    this.frequentUntilMs = nowMs + frequentForMs;
    this.allDueAtMs = Math.min(this.allDueAtMs, nowMs + coalesceMs);
    this.schedule();
  }

  stop(): void {
    this.state = 'stopped';
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (this.state !== 'waiting') return;
    clearTimeout(this.timer);
    const untilAllMs = Math.max(0, this.allDueAtMs - performance.now());
    this.timer = setTimeout(() => void this.poll(), this.requested.size > 0 ? Math.min(coalesceMs, untilAllMs) : untilAllMs);
    this.timer.unref();
  }

  private async poll(): Promise<void> {
    this.state = 'polling';
    const ids = this.due();
    try {
      for (let i = 0; i < ids.length; i += accountsPerQuery) await this.compare(ids.slice(i, i + accountsPerQuery));
      this.isFailing = false;
    } catch (err) {
      if (!this.isFailing) this.parts.log.warn({ err }, 'the event counters cannot be read; retrying');
      this.isFailing = true;
    }
    if (!this.isStopped()) this.state = 'waiting';
    this.schedule();
  }

  private due(): string[] {
    const nowMs = performance.now();
    const ids = nowMs >= this.allDueAtMs ? this.parts.hub.listening.keys() : this.requested.values();
    const due = [...ids];
    this.requested.clear();
    if (nowMs >= this.allDueAtMs) this.allDueAtMs = nowMs + (nowMs < this.frequentUntilMs ? frequentEveryMs : this.everyMs);
    return due;
  }

  private async compare(ids: string[]): Promise<void> {
    const { hub, database } = this.parts;
    this.counts.polls++;
    const { rows } = await database.read({
      name: 'event_counters',
      text: 'select c.account_id as id, c.last_seq as seq from unnest($1::text[], $2::bigint[]) as known(id, seq) join event_counter c on c.account_id = known.id where c.last_seq > known.seq',
      values: [ids, ids.map((id) => hub.listening.get(id)?.newest ?? 0)],
    });
    this.counts.behind += rows.length;
    for (const { id, seq } of rows) hub.expect(id, seq);
  }

  private isStopped(): boolean {
    return this.state === 'stopped';
  }
}
