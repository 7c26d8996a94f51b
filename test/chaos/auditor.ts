/** Checks the books repeatedly during load and faults: they must be correct at every time, not only at the end. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isServersFault } from '../../src/storage/database-errors.ts';
import { checkLedger } from '../../src/storage/ledger-check.ts';
import type { History } from './history.ts';

const everyMs = 2_000;
const statementTimeoutMs = 20_000;

export class Auditor {
  /** How often the books could be read, and were. */
  audits = 0;
  private readonly databaseUrl: () => string;
  private readonly history: History;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(databaseUrl: () => string, history: History) {
    this.databaseUrl = databaseUrl;
    this.history = history;
    this.running = this.audit();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async audit(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await pause(everyMs, null, { signal }).catch(() => {});
      const findings = await this.read();
      for (const { check, about } of findings) this.history.anomaly(`the books are wrong: ${about} (${check})`);
    }
  }

  /** Nothing where the database is away: the run breaks it at times. */
  private async read() {
    const client = new pg.Client({
      connectionString: this.databaseUrl(),
      connectionTimeoutMillis: 2_000,
      statement_timeout: statementTimeoutMs,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { findings } = await checkLedger(client, null);
      this.audits++;
      return findings;
    } catch (error) {
      // A state of the server, of its disk or of the way to it; anything else is a fault of the check.
      const { code = '' } = error as { code?: string };
      if (code !== '' && !/^(08|57|E[A-Z])/.test(code) && !isServersFault({ code }))
        this.history.anomaly(`the books could not be read: ${(error as Error).message}`);
      return [];
    } finally {
      await client.end().catch(() => {});
    }
  }
}
