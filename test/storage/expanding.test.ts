/** Migrations only expand: nodes of the version before continue to write during a rolling deploy. */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { contractions } from '../../src/storage/contraction.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';
import { allMigrations } from '../support/migrations.ts';

/** Statements that remove something from a writer or reader of the earlier schema. */
const takesAway: [RegExp, string][] = [
  [/\bdrop (table|column|view|function|type|schema)\b/, 'drops what is used'],
  [/\balter table [^;]*?\bdrop (?!not null|default|constraint|expression)/, 'drops a column'],
  [/\brename\b/, 'renames'],
  [/\bset not null\b/, 'demands a value'],
  [/\balter (column )?\w+ (set data )?type\b/, 'changes a type'],
  [/^truncate\b/, 'empties a table'],
];

/** Why the statement is not an expansion; null if it is one. */
function fault(statement: string): string | null {
  const sql = statement
    .replace(/'(?:[^']|'')*'/g, `''`)
    .replace(/\s+/g, ' ')
    .toLowerCase();
  for (const [pattern, why] of takesAway) if (pattern.test(sql)) return why;
  const altered = /^alter table (?:only )?(?:if exists )?\S+ (.*)$/.exec(sql.trim());
  for (const action of altered === null ? [] : topLevelParts(altered[1]!)) {
    const isColumn = /^add (?!constraint|check|unique|primary|foreign|exclude)/.test(action);
    if (isColumn && /\bnot null\b/.test(action) && !/\bdefault\b|\bgenerated\b/.test(action)) return 'adds a column that must be given';
  }
  return null;
}

function topLevelParts(actions: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const char of actions) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}

function builtIndexes(sql: string): { index: string; table: string }[] {
  return [...sql.matchAll(/\bcreate (?:unique )?index (\w+) on (\w+)/g)].map(([, index, table]) => ({ index: index!, table: table! }));
}

/**
 * Building an index lets others read the table, and a transaction that has read it may then write, which waits for the build: if the
 * migration needs the exclusive lock next, each waits for the other, and a retry meets the next such transaction. A table that the
 * migration creates, or has locked exclusively before, is free of this.
 */
function upgradesLock(statements: readonly string[], tableOf: ReadonlyMap<string, string>): boolean {
  const exclusive = new Set<string>();
  const shared = new Set<string>();
  for (const sql of statements.flatMap((statement) => statement.split(';'))) {
    const created = /\bcreate table (?:if not exists )?(\w+)/.exec(sql)?.[1];
    if (created !== undefined) exclusive.add(created);
    for (const { table } of builtIndexes(sql)) if (!exclusive.has(table)) shared.add(table);
    const locked = exclusivelyLocked(sql, tableOf);
    if (locked === undefined) continue;
    if (shared.has(locked)) return true;
    exclusive.add(locked);
  }
  return false;
}

function exclusivelyLocked(sql: string, tableOf: ReadonlyMap<string, string>): string | undefined {
  const table = /\b(?:alter table|drop table|truncate)(?: table| only| if exists)* (\w+)/.exec(sql)?.[1];
  const index = /\bdrop index(?: concurrently| if exists)* (\w+)/.exec(sql)?.[1];
  return table ?? (index === undefined ? undefined : tableOf.get(index));
}

test('a migration removes nothing, unless it is listed as a contraction with its release', async () => {
  const all = await allMigrations();
  assert.ok(all.length >= 23);
  const faults = all.flatMap(({ name, statements }) =>
    statements.flatMap((sql) => (fault(sql) === null ? [] : [{ name, why: fault(sql), sql }])),
  );
  const unnamed = faults.filter(({ name }) => contractions[name] === undefined);
  assert.deepEqual(unnamed, []);
  for (const [name, { release }] of Object.entries(contractions)) {
    assert.ok(
      faults.some((one) => one.name === name),
      `${name} takes nothing away and is no contraction`,
    );
    assert.match(release, /^\d+\.\d+\.\d+$/);
  }
});

test('the rule finds exactly the statements that remove something', () => {
  const refused = [
    'drop table message',
    'alter table card add x int, drop reserved_minor',
    'alter table card drop column if exists reserved_minor',
    'alter table invoice rename column checkout_id to payment_id',
    'alter table task rename to work',
    'alter table task alter column status set not null',
    'alter table task alter status type varchar(10)',
    'alter table task alter status set data type varchar(10)',
    'alter table task add place text not null',
    `alter table task add a int default 1, add b text not null check (b <> 'default')`,
    'truncate task',
  ];
  for (const sql of refused) assert.notEqual(fault(sql), null, sql);
  const fine = [
    'create table place (id text primary key, name text not null)',
    `alter table task add place text, add kind text not null default 'rename', add n numeric(10, 2) not null default 0`,
    'alter table checkout alter plan drop not null, add check (plan is null)',
    'create index task_by_place on task (place)',
    `update task set place = 'drop table'`,
    'alter table invoice drop constraint invoice_amount_minor_check',
  ];
  for (const sql of fine) assert.equal(fault(sql), null, sql);
});

test('no migration builds an index of a table and then takes the exclusive lock of this table', async () => {
  const all = await allMigrations();
  const tableOf = new Map(all.flatMap(({ statements }) => statements.flatMap(builtIndexes)).map(({ index, table }) => [index, table]));
  assert.deepEqual(
    all.flatMap(({ name, statements }) => (upgradesLock(statements, tableOf) ? [name] : [])),
    [],
  );
});

test('the rule of locks finds exactly the migrations that need a stronger lock than they have', () => {
  const tableOf = new Map([['task_by_place', 'task']]);
  const build = 'create unique index task_by_kind on task (kind)';
  const refused = [
    [build, 'drop index task_by_place'],
    [build, 'drop index concurrently if exists task_by_place'],
    [build, 'alter table only task add place text'],
    [`do $$ begin if true then ${build}; end if; end $$`, 'truncate task'],
    [`${build}; drop table if exists task`],
  ];
  for (const statements of refused) assert.equal(upgradesLock(statements, tableOf), true, statements.join('; '));
  const fine = [
    [build],
    ['alter table task add place text', build, 'drop index task_by_place'],
    ['create table task (id text)', build, 'alter table task add place text'],
    [build, 'alter table card add task text', 'drop index card_by_place'],
  ];
  for (const statements of fine) assert.equal(upgradesLock(statements, tableOf), false, statements.join('; '));
});

test('a contraction that breaks older nodes is refused in one line while a node runs', async (t) => {
  const server = await testDatabase({ empty: true });
  const database = new Database(server.url);
  const node = new pg.Client({ connectionString: server.url, application_name: 'troupe node 1234 a' });
  t.after(async () => {
    await database.close();
    await server.close();
  });
  await database.pool.query(`create table migration (id serial primary key, name text, executed_at timestamptz default now())`);
  await database.pool.query(`insert into migration (name) values ('0012-issuing')`);
  node.on('error', () => {});
  await node.connect();
  await assert.rejects(database.migrate(), /older than migration 0014-subscriptions.*stop all nodes/);
  await node.end();
});
