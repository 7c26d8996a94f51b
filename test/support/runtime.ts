/** An actor runtime for tests: a real database, one node, the runtime, and the events that it published. */
import pg from 'pg';
import type { ActorSystem } from '../../src/actors/actor-system.ts';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { Runtime, type RuntimeOptions } from '../../src/actors/runtime.ts';
import { SingleNode, type SingleNodeOptions } from '../../src/cluster/single-node.ts';
import type { Log } from '../../src/log.ts';
import type { EventDraft } from '../../src/storage/commit-unit.ts';
import { Database } from '../../src/storage/database.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import type { Json } from './json.ts';
import { productSchemaWith } from './product-schema.ts';

export type TestRuntimeOptions = Partial<Omit<RuntimeOptions, 'database' | 'placement'>> & {
  /** Entities of the tested actors that the service itself does not have, and the SQL that makes their tables. */
  entities?: Parameters<typeof productSchemaWith>[0][number][];
  tables?: string[];
  /** Makes an address that leads to the same database by another way, e.g. a proxy. The node's lock goes the straight way. */
  via?: (url: string) => Promise<string>;
  /** Instead of one as it comes; empty. */
  database?: TestDatabase;
  /** The same for the node's lock. */
  lockVia?: (url: string) => Promise<string>;
  placement?: SingleNodeOptions;
};

export type TestRuntime = {
  readonly url: string;
  database: Database;
  placement: SingleNode;
  runtime: Runtime;
  actors: ActorSystem;
  /** Every event published by this runtime and those it was restarted from, in order of publication. */
  events: (EventDraft & { seq: number })[];
  /** Lines logged as errors. */
  errors: { fields: object; message: string }[];
  sql(text: string, values?: unknown[]): Promise<Json[]>;
  /** Ends this runtime without finishing anything and starts another on the same database. */
  crashAndRestart(): Promise<void>;
  /** Ends it as SIGTERM would and starts another. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

/** Starts a runtime with these actors on an empty, migrated database. States are frozen: a command that changes one in place throws. */
export async function testRuntime(definitions: AnyActor[], options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const { entities = [], tables = [], via, lockVia, placement: placementOptions, database: given, ...runtimeOptions } = options;
  const kept = given ?? (await testDatabase());
  const direct = new pg.Pool({ connectionString: kept.url, max: 4, application_name: 'test' });
  direct.on('error', () => {});
  const url = (await via?.(kept.url)) ?? kept.url;
  const lockUrl = (await lockVia?.(kept.url)) ?? kept.url;
  const events: TestRuntime['events'] = [];
  const errors: TestRuntime['errors'] = [];
  const log = options.log ?? errorLog(errors);

  const begin = async (first: boolean) => {
    const database = new Database(url, { schema: productSchemaWith(entities) });
    if (first) {
      if (given !== undefined) await database.migrate();
      for (const table of tables) await direct.query(table);
    }
    const placement = new SingleNode(lockUrl, 'test', log, { readLeaseMs: 50, ...placementOptions });
    const runtime = new Runtime({ freezeStates: true, ...runtimeOptions, database, placement, log });
    runtime.register(definitions);
    runtime.onEvents((drafts, seqs) => events.push(...drafts.map((draft, i) => ({ ...draft, seq: seqs[i]! }))));
    const parts = { database, placement, runtime, actors: runtime.actors };
    // Named before it starts: its effects, which run at once, are not to ask the one before.
    if (!first) Object.assign(test, parts);
    await runtime.start();
    return parts;
  };

  const end = async (graceMs?: number) => {
    await test.runtime.stop(graceMs);
    await test.database.close();
  };
  const test: TestRuntime = {
    url: kept.url,
    ...(await begin(true)),
    events,
    errors,
    sql: async (text, values) => (await direct.query(text, values)).rows,
    async crashAndRestart() {
      await end(0);
      await begin(false);
    },
    async restart() {
      await end();
      await begin(false);
    },
    async close() {
      await end();
      await direct.end();
      await kept.close();
    },
  };
  return test;
}

function errorLog(errors: TestRuntime['errors']): Log {
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields, message) => void errors.push({ fields, message }),
    child: () => log,
  };
  return log;
}

/** What a promise came to: its value, or the code of its error. */
export async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error) => ({ refused: error.code ?? String(error) }));
}
