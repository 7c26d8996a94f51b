/** A node with the service's own stream hub and server in front of it; the bench's actor commits the events. The token of a socket is its account's number. */
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import type { Principal } from '../../src/edge/auth/principal.ts';
import { createServer } from '../../src/edge/http/server.ts';
import { Stream } from '../../src/edge/stream/stream.ts';
import { StreamHub } from '../../src/edge/stream/stream-hub.ts';
import { createLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { eventCatalogue } from '../../test/support/product-events.ts';
import { CounterEntity, counter, counterActor, createCounterTable } from '../support/counter.ts';
import { machineMs } from '../support/machine-clock.ts';
import { serveCalls } from '../support/program.ts';
import { weighed } from '../support/weight.ts';
import { DeliveryWindow } from '../support/window.ts';

const actorCount = 1_000;
const tickMs = 2;
const url = process.env.BENCH_DATABASE_URL!;
const log = createLog('warn');
const database = new Database(url, { schema: { entities: [CounterEntity] } });
const runtime = new Runtime({ database, placement: new SingleNode(url, 'bench', log), log });
const hub = new StreamHub(database, log);
const window = new DeliveryWindow();
let committed = 0;
/** Triples of account, number of the event, time of its commit; null while they are not wanted. */
let commits: number[] | null = null;
let sending: Promise<unknown> | null = null;
let over = false;

serveCalls({
  async listen(): Promise<number> {
    await database.migrate();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(createCounterTable);
    await client.end();
    runtime.register([counterActor]);
    runtime.onEvents((events, seqs) => {
      committed += events.length;
      if (commits !== null) {
        const nowMs = machineMs();
        for (let i = 0; i < events.length; i++) commits.push(Number(events[i]!.accountId.slice(5)), seqs[i]!, nowMs);
      }
      hub.publish(events, seqs);
    });
    await runtime.start();
    const server = await createServer({
      handler: () => ({ status: 404, headers: null, body: null }),
      log,
      maxHeaderBytes: 16_384,
      accessLog: false,
    });
    const stream = new Stream({
      hub,
      eventCatalogue,
      database,
      authenticate: principalOf,
      isStillValid: () => true,
      retentionDays: 7,
      log,
    });
    server.webSocket('/ws', stream, { maxMessageBytes: 65_536, maxBufferedBytes: 1_048_576, idleTimeoutS: 120 });
    return (await server.listen('127.0.0.1', 0)).port;
  },

  /** Writes an account's past at once, as if `count` events had been committed. */
  async fill({ account, count }: { account: number; count: number }) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      `insert into event (account_id, seq, id, type, data, created_at)
       select $1, n, 'evt_' || lpad(n::text, 26, '0'), 'counter.added', json_build_object('value', n), now() from generate_series(1, $2::int) n`,
      [`acct_${account}`, count],
    );
    await client.query('insert into event_counter (account_id, last_seq) values ($1, $2)', [`acct_${account}`, count]);
    await client.query('vacuum analyze event');
    await client.end();
  },

  /** Commits as fast as its events are delivered, until `stop`. */
  begin({ inFlight, accounts, receiversEach }: { inFlight: number; accounts: number; receiversEach: number }) {
    over = false;
    window.reset();
    let next = 0;
    const loop = async (): Promise<void> => {
      while (!over) {
        window.take(receiversEach);
        await add(next++, accounts);
        if (window.room <= 0) await window.wait();
      }
    };
    sending = Promise.all(Array.from({ length: inFlight }, loop));
  },

  /** Commits at a steady rate for a time and notes when each commit was known. */
  async pace({ eventsPerSecond, ms, accounts }: { eventsPerSecond: number; ms: number; accounts: number }) {
    commits = [];
    const beganMs = performance.now();
    const asked: Promise<unknown>[] = [];
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - beganMs) {
      while (asked.length < (elapsedMs * eventsPerSecond) / 1_000) asked.push(add(asked.length, accounts));
      await after(tickMs);
    }
    await Promise.all(asked);
    const noted = Float64Array.from(commits);
    commits = null;
    return noted;
  },

  progress: (frames: number) => window.progress(frames),

  async stop() {
    over = true;
    window.close();
    await sending;
  },

  /** What the process holds after a collection. */
  weigh: () => weighed(),

  mark: () => ({ atMs: performance.now(), committed }),
});

function add(n: number, accounts: number): Promise<number> {
  const actor = n % actorCount;
  return runtime.actors.ask(counter, `c${actor}`, 'add', { accountId: `acct_${actor % accounts}` });
}

function principalOf(token: string): Principal {
  return { accountId: `acct_${token}`, userId: 'usr_bench', kind: 'session', scopes: 'all', mode: 'live', id: `ses_${token}` };
}
