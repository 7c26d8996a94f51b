/** A node that delivers webhooks as the service does: its own runtime, hub, feed and dispatchers. Each account has one webhook. */
import { setTimeout as after } from 'node:timers/promises';
import { Runtime } from '../../src/actors/runtime.ts';
import { systemClock } from '../../src/clock.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { webhooksSchema } from '../../src/domains/webhooks/schema.ts';
import { newWebhookSecret } from '../../src/domains/webhooks/webhook/signature.ts';
import { newId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { createVerified, deliveringParts, emitter, secrets } from '../../test/support/webhook-node.ts';
import { machineMs } from '../support/machine-clock.ts';
import { serveCalls } from '../support/program.ts';

const tasksEach = 10;
const tickMs = 2;
const url = process.env.BENCH_DATABASE_URL!;
const log = createLog('warn');
const database = new Database(url, { schema: webhooksSchema });
const placement = new SingleNode(url, 'bench', log);
const runtime = new Runtime({ database, placement, log });
const parts = deliveringParts({ database, placement, runtime, clock: systemClock });
/** Triples of account, number of the event, time of its commit; null while they are not wanted. */
let commits: number[] | null = null;

serveCalls({
  async start(): Promise<void> {
    await database.migrate();
    const { hub } = parts;
    runtime.onEvents((events, seqs) => {
      if (commits !== null) {
        const nowMs = machineMs();
        for (let i = 0; i < events.length; i++) commits.push(Number(events[i]!.accountId.slice(5)), seqs[i]!, nowMs);
      }
      hub.publish(events, seqs);
    });
    await runtime.start();
  },

  /** One webhook for each port; accounts are counted from `first`. */
  async register({ first, ports }: { first: number; ports: number[] }): Promise<void> {
    await Promise.all(
      ports.map((port, i) => {
        const id = newId('wh_', null);
        const secret = secrets.seal(newWebhookSecret(), id);
        const accountId = `acct_${first + i}`;
        const input = {
          accountId,
          mode: 'live' as const,
          userId: 'usr_1',
          url: `http://127.0.0.1:${port}/`,
          events: ['*'],
          secret,
          cursor: 0,
        };
        return createVerified(runtime.actors, parts, id, input);
      }),
    );
  },

  /** Commits at a steady rate for a time and notes when each commit was known. */
  async pace({ first, count, eventsPerSecond, ms }: { first: number; count: number; eventsPerSecond: number; ms: number }) {
    commits = [];
    const beganMs = performance.now();
    // Counted, not kept: thousands of promises that stay would be the collector's work, and not the product's.
    let asked = 0;
    let answered = 0;
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - beganMs) {
      while (asked < (elapsedMs * eventsPerSecond) / 1_000)
        void emitEvents(first, count, asked++)
          .catch(refused)
          .finally(() => answered++);
      await after(tickMs);
    }
    while (answered < asked) await after(tickMs);
    const noted = Float64Array.from(commits);
    commits = null;
    return noted;
  },

  cpuMs: () => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000,
});

/** Before the code is warm, asks may be refused as overloaded: these make no events, and no measurement waits for them. */
function refused(error: Error): void {
  if ((error as { code?: unknown }).code !== 'overloaded') throw error;
}

function emitEvents(first: number, count: number, n: number): Promise<null> {
  const account = first + (n % count);
  const taskId = `task_${account}_${Math.floor(n / count) % tasksEach}`;
  const event = { accountId: `acct_${account}`, taskId, type: 'task.running', data: { n } };
  return runtime.actors.ask(emitter, taskId, 'emit', { events: [event] });
}
