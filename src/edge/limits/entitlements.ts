/**
 * Limits of accounts at the edge: those of their plan, unless an operator has set others. Known accounts are answered from memory and,
 * while they are in use, polled together, so that a change of plan or limit holds here within a second.
 */
import { LRUCache } from 'lru-cache';
import type { Log } from '../../log.ts';
import { type Plan, type PlanLimits, planLimits, unlimited } from '../../plans.ts';
import type { Database } from '../../storage/database.ts';

/** -1: unlimited. */
export type Entitlement = Pick<PlanLimits, 'requestsPerMinute' | 'concurrentRequests' | 'websockets'>;

type Known = { entitlement: Entitlement; recentlyUsed: boolean };

export type EntitlementsOptions = {
  /** From the answer to one poll for changes to the next poll. */
  everyMs?: number;
  /** Accounts in the cache; an evicted one is read again. */
  maxAccounts?: number;
};

export class Entitlements {
  private readonly database: Database;
  private readonly log: Log;
  private readonly everyMs: number;
  private readonly known: LRUCache<string, Known>;
  private batch: { ids: Set<string>; loaded: Promise<Map<string, Entitlement>> } | null = null;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private failing = false;

  constructor(database: Database, log: Log, { everyMs = 400, maxAccounts = 20_000 }: EntitlementsOptions = {}) {
    this.database = database;
    this.log = log;
    this.everyMs = everyMs;
    this.known = new LRUCache({ max: maxAccounts });
  }

  start(): void {
    this.timer = setTimeout(() => void this.refresh().finally(() => this.stopped || this.start()), this.everyMs).unref();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** While the database is unavailable, known limits still apply; for an unknown account it rejects `unavailable`. */
  of(accountId: string): Entitlement | Promise<Entitlement> {
    const known = this.known.get(accountId);
    if (known === undefined) return this.load(accountId);
    known.recentlyUsed = true;
    return known.entitlement;
  }

  /** Polls for changes now. Failures are logged, never thrown. */
  async refresh(): Promise<void> {
    const asked: string[] = [];
    for (const [id, known] of [...this.known.entries()]) {
      if (known.recentlyUsed) asked.push(id);
      // An account without recent requests is dropped from the cache: its next request reads it again.
      else this.known.delete(id);
      known.recentlyUsed = false;
    }
    if (asked.length === 0) return;
    try {
      for (const [id, entitlement] of await this.read(asked)) {
        const known = this.known.peek(id);
        if (known !== undefined) known.entitlement = entitlement;
      }
      this.failing = false;
    } catch (err) {
      for (const id of asked) this.keep(id);
      if (!this.failing) this.log.warn({ err }, 'plans and limits of accounts cannot be read; the last known values apply');
      this.failing = true;
    }
  }

  private keep(id: string): void {
    const known = this.known.peek(id);
    if (known !== undefined) known.recentlyUsed = true;
  }

  /** All accounts requested in one tick are read by one query. */
  private load(accountId: string): Promise<Entitlement> {
    this.batch ??= this.nextBatch();
    this.batch.ids.add(accountId);
    return this.batch.loaded.then((found) => found.get(accountId)!);
  }

  private nextBatch() {
    const ids = new Set<string>();
    const loaded = new Promise(setImmediate).then(async () => {
      this.batch = null;
      const found = await this.read([...ids]);
      for (const [id, entitlement] of found) this.known.set(id, { entitlement, recentlyUsed: true });
      return found;
    });
    return { ids, loaded };
  }

  private async read(ids: string[]): Promise<Map<string, Entitlement>> {
    const { rows } = await this.database.read({
      name: 'entitlements',
      text: `select a.id, coalesce(o.plan, a.plan) as plan, o.requests_per_minute as "requestsPerMinute",
          o.concurrent_requests as "concurrentRequests", o.websockets
        from account a left join account_override o on o.account_id = a.id where a.id = any($1)`,
      values: [ids],
    });
    const found = new Map<string, Entitlement>(ids.map((id) => [id, planLimits.free]));
    for (const row of rows) found.set(row.id, entitlementOf(row));
    return found;
  }
}

function entitlementOf(row: { plan: Plan } & { [L in keyof Entitlement]: number | null }): Entitlement {
  const own = planLimits[row.plan];
  return {
    requestsPerMinute: row.requestsPerMinute ?? own.requestsPerMinute,
    concurrentRequests: row.concurrentRequests ?? own.concurrentRequests,
    websockets: row.websockets ?? own.websockets,
  };
}

/** Whether a count is within a limit. */
export function isWithin(count: number, limit: number): boolean {
  return limit === unlimited || count < limit;
}
