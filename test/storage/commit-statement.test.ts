/** The commit statement in PostgreSQL: hostile values are stored unchanged, its cost is linear in the size of the batch, events have no gaps. */
import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { commitSession } from '../../src/storage/commit-connection.ts';
import { commitStatement } from '../../src/storage/commit-statement.ts';
import { CommitUnit } from '../../src/storage/commit-unit.ts';
import type { Database } from '../../src/storage/database.ts';
import { CommandRecord, DeadLetter, Effect, Message, Timer } from '../../src/storage/entities/runtime.ts';
import { RawJson } from '../../src/storage/table.ts';
import { ProbeEntity, probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const texts = [
  '',
  ' ',
  'NULL',
  '{}',
  '"',
  '\\',
  '\\\\"',
  "'; drop table probe; --",
  'a,b}',
  '\x1d',
  '\x1e',
  '\x1d\x1e\x1d',
  '\n\r\t\b',
  '\u{1f600}',
  'é'.repeat(3),
];

test('text and JSON of every kind are stored unchanged', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const values: unknown[] = [
    ...texts,
    'nul\0',
    '\ud800',
    null,
    0,
    -0.5,
    1e300,
    true,
    [],
    {},
    [null],
    { '': null, '\0': '\x1e' },
    [[texts]],
    'x'.repeat(1 << 20),
  ];
  await Promise.all([
    ...texts.map((text, i) => node.actors.ask(probe, `text ${i}`, 'put', { text, note: text })),
    ...values.map((data, i) => node.actors.ask(probe, `data ${i}`, 'put', { data, text: 'y' })),
    node.actors.ask(probe, 'long', 'put', { text: 'z'.repeat(1 << 20) }),
    node.actors.ask(probe, 'half', 'put', { text: 'a\0b\ud800c' }),
  ]);
  await node.crashAndRestart();
  const state = async (id: string) => (await node.actors.query(probe, id, 'state', null))!;
  for (let i = 0; i < texts.length; i++) assert.equal((await state(`text ${i}`)).text, texts[i]);
  for (let i = 0; i < values.length; i++) assert.deepEqual((await state(`data ${i}`)).data, values[i]);
  assert.equal((await state('long')).text.length, 1 << 20);
  assert.equal((await state('half')).text, 'a\ufffdb\ufffdc', 'what text cannot hold is marked, not lost silently');
  const notes = await node.sql('select text from probe_note order by id');
  assert.deepEqual(notes.map(({ text }) => text).sort(), [...texts].sort());
  assert.deepEqual(
    (await node.sql(`select seq::int from event order by seq`)).map(({ seq }) => seq),
    Array.from({ length: texts.length + values.length + 2 }, (_, i) => i + 1),
  );
});

test('nulls before and after the values of a column are stored as nulls, and a column without values is sent empty', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const rows = [null, 'a', null, 'b', null, null].map((name, i) => ({ id: `p${i}`, name, ratio: null, data: null }));
  await Promise.all(rows.map(({ id, ...values }) => node.actors.ask(probe, id, 'put', values)));
  await node.crashAndRestart();
  for (const { id, name } of rows) {
    const stored = await node.actors.query(probe, id, 'state', null);
    assert.deepEqual([stored!.name, stored!.ratio, stored!.data], [name, null, null]);
  }
  const table = node.database.table(ProbeEntity);
  const sent = table.parameters(rows.map((row) => ({ ...row, value: 0, received: [], text: '' })));
  const of = (property: string) => sent[table.columns.findIndex((column) => column.property === property)];
  assert.deepEqual([of('name'), of('ratio')], ['{NULL,"a",NULL,"b"}', '{}']);
  assert.equal(of('data')!.split('\x1e').length, rows.length);
});

for (const accounts of [1, 2_000]) {
  test(`no join of a commit is a nested loop over its arrays, and no look-up reads a whole table (${accounts} accounts)`, async (t) => {
    const node = await testRuntime([probeActor], probeOptions);
    const client = new pg.Client({ connectionString: node.url });
    await client.connect();
    t.after(async () => {
      await client.end();
      await node.close();
    });
    await node.sql(
      `insert into timer select 'probe', 'a' || i, 't', 1, 'woke', '{}', now() + interval '1 day' from generate_series(1, 20000) i`,
    );
    await node.sql(`insert into message select 'm' || i, 1, 'probe', 'a', 'receive', '{}', now() from generate_series(1, 20000) i`);
    await node.sql(`insert into effect select 'e' || i, 1, 'probe', 'a', 'work', '{}', null, now() from generate_series(1, 20000) i`);
    await node.sql('analyze');
    await client.query(commitSession);
    const table: Database['table'] = (entity) => node.database.table(entity);
    const tables = runtimeTables(table);
    const timings: Record<number, number> = {};
    for (const size of [1, 64, 512, 2_000]) {
      const { text, values } = commitStatement(
        units(size, accounts, table),
        node.placement,
        { marker: 'test', batch: 1_000_000 + size },
        tables,
      );
      await client.query('begin');
      const { rows } = await client.query({ text: `explain (analyze, format json) ${text}`, values });
      await client.query('rollback');
      const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
      timings[size] = ms;
      for (const node of nodesOf(plan)) {
        const scanned = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
        assert.ok(
          scanned * (node['Actual Loops'] ?? 1) <= 4 * size + 2_000,
          `${node['Node Type']} of ${node['Relation Name'] ?? node.Alias} scanned ${scanned} rows without a match, ${size} units`,
        );
        assert.notEqual(node['Node Type'], 'Seq Scan', `${node['Relation Name']} is read as a whole`);
      }
    }
    t.diagnostic(`milliseconds by units: ${JSON.stringify(timings)}`);
  });
}

test('commits that wait for each other number the events of old and new accounts without gaps, in their order', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const tables = runtimeTables((entity) => node.database.table(entity));
  const commit = async (marker: string, accounts: string[]) => {
    const client = new pg.Client({ connectionString: node.url });
    await client.connect();
    await client.query(commitSession);
    await client.query('begin');
    const { text, values, eventAccounts } = commitStatement(eventsOf(marker, accounts), node.placement, { marker, batch: 1 }, tables);
    const { rows } = await client.query({ text, values, rowMode: 'array' });
    const [ok, , last] = rows[0] as [boolean, null, string[]];
    const end = async () => {
      await client.query('commit');
      await client.end();
    };
    return { ok, last: eventAccounts.map((account) => Number(last[account])), end };
  };
  const seed = await commit('seed', ['old', 'older', 'older']);
  assert.deepEqual(seed.last, [1, 2, 2]);
  await seed.end();
  const first = await commit('first', ['old', 'new', 'older', 'old']);
  assert.deepEqual(first.last, [3, 1, 3, 3]);
  const second = commit('second', ['new', 'older', 'newer', 'old']);
  await until(
    async () => (await node.sql(`select from pg_stat_activity where wait_event_type = 'Lock' and query like 'with owned%'`)).length === 1,
  );
  await first.end();
  const { ok, last, end } = await second;
  assert.ok(ok);
  assert.deepEqual(last, [2, 4, 1, 4]);
  await end();
  const events = await node.sql(`select account_id, array_agg(seq::int order by seq) as seqs from event group by 1 order by 1`);
  assert.deepEqual(events, [
    { account_id: 'new', seqs: [1, 2] },
    { account_id: 'newer', seqs: [1] },
    { account_id: 'old', seqs: [1, 2, 3, 4] },
    { account_id: 'older', seqs: [1, 2, 3, 4] },
  ]);
});

test('commits that wait for each other because an account is new end with the failure of one, which succeeds at the next try', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  const clients: pg.Client[] = [];
  t.after(async () => {
    for (const client of clients) await client.end();
    await node.close();
  });
  const tables = runtimeTables((entity) => node.database.table(entity));
  const session = async () => {
    const client = new pg.Client({ connectionString: node.url });
    await client.connect();
    clients.push(client);
    await client.query(commitSession);
    return client;
  };
  const probes = node.database.table(probeOptions.entities[0]!);
  const commit = async (marker: string, accounts: string[], id?: string) => {
    const batch = eventsOf(marker, accounts);
    const row = { id, value: 1, name: null, ratio: null, received: [], text: '', data: {} };
    if (id !== undefined) batch[0]!.parts.push({ kind: 'probe', id, table: probes, row, timers: null });
    const { text, values } = commitStatement(batch, node.placement, { marker, batch: 1 }, tables);
    await (await session()).query({ text, values });
  };
  const waiting = async (count: number) =>
    until(async () => {
      const { length } = await node.sql(`select from pg_stat_activity where wait_event_type = 'Lock' and query like 'with owned%'`);
      return length === count;
    });
  await commit('seed', ['m', 'z'], 'p');
  const [ofRow, ofCounter] = [await session(), await session()];
  await ofRow.query(`begin; select from probe where id = 'p' for update`);
  await ofCounter.query(`begin; select from event_counter where account_id = 'm' for update`);
  // Its snapshot is older than the counter of account a.
  const first = commit('first', ['z', 'a'], 'p');
  await waiting(1);
  await commit('creator', ['a']);
  const second = commit('second', ['a', 'm', 'z']);
  await waiting(2);
  await ofRow.query('commit');
  await until(
    async () => (await node.sql(`select from event_counter where account_id = 'z' for update skip locked`)).length === 0,
    'first has z',
  );
  await ofCounter.query('commit');
  const outcomes = await Promise.allSettled([first, second]);
  const failed = outcomes.flatMap((outcome, i) => (outcome.status === 'rejected' ? [{ i, code: outcome.reason.code }] : []));
  assert.deepEqual(
    failed.map(({ code }) => code),
    ['40P01'],
  );
  await (failed[0]!.i === 0 ? commit('first', ['z', 'a'], 'p') : commit('second', ['a', 'm', 'z']));
  const events = await node.sql(`select account_id, array_agg(seq::int order by seq) as seqs from event group by 1 order by 1`);
  assert.deepEqual(events, [
    { account_id: 'a', seqs: [1, 2, 3] },
    { account_id: 'm', seqs: [1, 2] },
    { account_id: 'z', seqs: [1, 2, 3] },
  ]);
});

function eventsOf(marker: string, accounts: string[]): CommitUnit[] {
  return accounts.map((accountId, i) => {
    const unit = new CommitUnit(i, () => {});
    unit.events.push({ accountId, id: `${marker}/${i}`, type: 'x', taskId: null, data: new RawJson({}), createdAt: Date.now() });
    return unit;
  });
}

function runtimeTables(table: Database['table']) {
  return {
    message: table(Message),
    timer: table(Timer),
    effect: table(Effect),
    commandRecord: table(CommandRecord),
    deadLetter: table(DeadLetter),
  };
}

/** Every kind of write in every unit. */
function units(size: number, accounts: number, table: Database['table']): CommitUnit[] {
  return Array.from({ length: size }, (_, i) => {
    const unit = new CommitUnit(i % 1024, () => {});
    const row = { id: `a${i + 1}`, value: 1, name: null, ratio: null, received: [], text: '', data: {} };
    const createdAt = Date.now();
    unit.events.push({ accountId: `acct${i % accounts}`, id: `evt${i}`, type: 'x', taskId: null, data: new RawJson({}), createdAt });
    unit.messages.push({ id: `new${i}`, shard: 1, kind: 'probe', actorId: 'b', command: 'receive', input: 1, createdAt });
    unit.consumedMessages.push(`m${i + 1}`);
    unit.consumedEffects.push(`e${i + 1}`);
    unit.cancelledEffects.push(`e${i + 10_000}`);
    unit.startedEffects.push(`e${i + 15_000}`);
    unit.parts.push({ kind: 'probe', id: row.id, table: table(ProbeEntity), row, timers: new Map([['t', null]]) });
    unit.commands.push({ id: `c${i}`, reply: 1, createdAt });
    return unit;
  });
}

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  'Actual Loops'?: number;
  Alias?: string;
  Plans?: PlanNode[];
};

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
