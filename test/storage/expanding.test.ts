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
