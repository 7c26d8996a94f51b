/**
 * One batch as one SQL statement: data-modifying CTEs over arrays, so that a batch of any size costs one round trip and one fsync.
 *
 * S1 Nothing is written unless every shard of the batch still has the epoch and owner of the statement; the shard rows are locked `for
 *    share`, in order, so that a claim waits for the commit and a later commit sees the claim.
 * S2 Event numbers come from the account's counter row, so they follow commit order and have no gaps. Existing counters are locked in account
 *    order, then counters that do not exist yet are inserted, in the same order. If another commit creates such a counter meanwhile, it is
 *    locked out of order: two commits may wait for each other until one fails by its lock time-out. Nothing of it is written, and it is
 *    tried again.
 * S3 A consumed message or effect must still exist, otherwise the whole statement fails (`repeated`).
 * S4 The counters are locked last, after all other writes: a statement that waits for an actor's row holds no counter, because all nodes
 *    that commit events of the account need it.
 */
import type { CommitUnit, EventDraft, TimerDraft } from './commit-unit.ts';
import { arrayExpression, encodeArray, selectUnnested, type Table } from './table.ts';

export type Fence = { owner: string; epochOf(shard: number): number | null };
export type RuntimeTables = { message: Table; timer: Table; effect: Table; commandRecord: Table; deadLetter: Table };
export type Statement = {
  text: string;
  values: unknown[];
  name: string;
  countedAccounts: string[];
  /** For each event, in the order of units: the index of its account in `countedAccounts`. */
  eventAccounts: number[];
};

/** True when something the batch consumes was already deleted, or a command id it records existed: a repeat of a committed turn. */
export function isRepeat(error: Error): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code === 'TR001' || (code === '23505' && constraint === 'command_record_pkey');
}

const names = new Map<string, string>();

/** The lane's row of `commit_marker`, and the number of the batch to store in it. */
export type Mark = { marker: string; batch: number };

export function commitStatement(units: readonly CommitUnit[], fence: Fence, { marker, batch }: Mark, tables: RuntimeTables): Statement {
  const values: unknown[] = [];
  const ctes: string[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const upsert = (table: Table, rows: readonly object[]) => {
    if (rows.length === 0) return;
    const first = values.length + 1;
    values.push(...table.parameters(rows));
    write(`w${ctes.length}`, table.upsert(first, 'ok'));
  };
  const written: string[] = [];
  const write = (name: string, statement: string) => {
    ctes.push(`${name} as (${statement} returning 1)`);
    written.push(name);
  };

  const shards = [...new Set(units.map((unit) => unit.shard))].sort((a, b) => a - b);
  const owner = bind(fence.owner);
  const wanted = `${bind(`{${shards.join(',')}}`)}::int[]`;
  const epochs = `${bind(`{${shards.map((shard) => fence.epochOf(shard)).join(',')}}`)}::bigint[]`;
  ctes.push(
    `owned as materialized (select s.shard, s.epoch from shard s where s.shard = any(${wanted}) and s.owner = ${owner} order by s.shard for share of s)`,
    `ok as materialized (select 1 where (select array_agg(epoch) from owned) = ${epochs})`,
    `mark as (insert into commit_marker (owner, batch) select ${bind(marker)}::text, ${bind(batch)}::bigint from ok on conflict (owner) do update set batch = excluded.batch, committed_at = now())`,
  );

  // Tables in a fixed order, so that the same set of tables gives the same statement, which is prepared once.
  for (const [table, rows] of [...rowsByTable(units)].sort(([a], [b]) => (a.name < b.name ? -1 : 1))) upsert(table, rows);
  upsert(
    tables.message,
    units.flatMap((unit) => unit.messages),
  );
  const effects = units.flatMap((unit) => (unit.effects === null ? [] : [...unit.effects.values()]));
  for (const effect of effects) effect.recordedBy = fence.owner;
  upsert(tables.effect, effects);
  const timers = timersOf(units);
  upsert(tables.timer, timers.set);
  upsert(
    tables.deadLetter,
    units.flatMap((unit) => unit.deadLetters),
  );
  commandRecords(units, tables, values, write);
  clearTimers(timers.cleared, bind, write);

  const checks = ['true'];
  for (const [table, ids] of [
    ['message', units.flatMap((unit) => unit.consumedMessages)],
    ['effect', units.flatMap((unit) => unit.consumedEffects)],
  ] as const) {
    if (ids.length === 0) continue;
    write(`gone_${table}`, `delete from ${table} using ok where id = any(${bind(ids)}::text[])`);
    checks.push(`all_there((select count(*) from gone_${table}), ${bind(ids.length)}::int)`);
  }
  const cancelled = units.flatMap((unit) => unit.cancelledEffects);
  if (cancelled.length > 0) write('cancelled', `delete from effect using ok where id = any(${bind(cancelled)}::text[])`);
  // A row cannot be changed twice in one statement: cancelled and consumed effects need no mark.
  const deletedEffects = new Set([...cancelled, ...units.flatMap((unit) => unit.consumedEffects)]);
  const started = units.flatMap((unit) => unit.startedEffects).filter((id) => !deletedEffects.has(id));
  if (started.length > 0) write('started', `update effect set started_by = ${owner} from ok where id = any(${bind(started)}::text[])`);
  const restarted = units.flatMap((unit) => unit.restartedEffects).filter((id) => !deletedEffects.has(id));
  if (restarted.length > 0) {
    const ids = bind(restarted);
    write('restarted', `update effect set started_by = ${owner}, starts = starts + 1 from ok where id = any(${ids}::text[])`);
  }

  const { accounts, eventAccounts } = numberedEvents(units, bind, ctes, written);
  const seqs = accounts.length === 0 ? 'null' : '(select array_agg(last_seq order by i) from numbers)';
  const kept = `(select array_agg(shard) filter (where epoch = (${epochs})[array_position(${wanted}, shard)]) from owned)`;
  const text = `with ${ctes.join(',\n')}\nselect case when exists (select from ok) then ${checks.join(' and ')} else false end, case when exists (select from ok) then null else ${kept} end, ${seqs}`;
  let name = names.get(text);
  if (name === undefined && names.size < maxPreparedStatements) names.set(text, (name = `commit_${names.size}`));
  return { text, values, name: name ?? '', countedAccounts: accounts, eventAccounts };
}

/** Few combinations of tables occur; beyond this number a statement is sent unprepared. */
const maxPreparedStatements = 200;

function rowsByTable(units: readonly CommitUnit[]): Map<Table, object[]> {
  const byTable = new Map<Table, object[]>();
  const add = (table: Table, row: object) => {
    const rows = byTable.get(table);
    if (rows === undefined) byTable.set(table, [row]);
    else rows.push(row);
  };
  for (const unit of units) {
    for (const { table, row } of unit.parts) if (row !== null) add(table!, row);
    if (unit.rows !== null) for (const [table, rows] of unit.rows) for (const row of rows.values()) add(table, row);
  }
  return byTable;
}

type Write = (name: string, statement: string) => void;

/** Plain inserts: an existing command id must fail the unit, not be overwritten. */
function commandRecords(units: readonly CommitUnit[], tables: RuntimeTables, values: unknown[], write: Write): void {
  const commands = units.flatMap((unit) => unit.commands);
  if (commands.length === 0) return;
  const first = values.length + 1;
  values.push(...tables.commandRecord.parameters(commands));
  write('commands', tables.commandRecord.insert(first, 'ok'));
}

type ClearedTimer = { kind: string; id: string; name: string };

function timersOf(units: readonly CommitUnit[]): { set: TimerDraft[]; cleared: ClearedTimer[] } {
  const set: TimerDraft[] = [];
  const cleared: ClearedTimer[] = [];
  for (const { parts } of units) {
    for (const { kind, id, timers } of parts) {
      if (timers === null) continue;
      for (const [name, timer] of timers) timer === null ? cleared.push({ kind, id, name }) : set.push(timer);
    }
  }
  return { set, cleared };
}

function clearTimers(cleared: readonly ClearedTimer[], bind: (value: unknown) => string, write: Write): void {
  if (cleared.length === 0) return;
  const arrays = ['kind', 'id', 'name'].map((property) => `${bind(encodeArray({ codec: 'text', property }, cleared))}::text[]`);
  // `limit` keeps the look-up an index scan for each name; a join would read the whole table.
  write(
    'cleared',
    `delete from timer using ok where ctid = any(array(select t.ctid from unnest(${arrays.join(', ')}) c(kind, actor_id, name), lateral (select ctid from timer where kind = c.kind and actor_id = c.actor_id and name = c.name limit 1) t))`,
  );
}

function numberedEvents(units: readonly CommitUnit[], bind: (value: unknown) => string, ctes: string[], written: readonly string[]) {
  const accountIndex = new Map<string, number>();
  const counts: number[] = [];
  // No object for each event: short-lived objects of each batch increase the heap's full collections.
  const events: EventDraft[] = [];
  const eventAccounts: number[] = [];
  const ranks: number[] = [];
  for (const unit of units) {
    for (const event of unit.events) {
      let account = accountIndex.get(event.accountId);
      if (account === undefined) {
        account = counts.length;
        accountIndex.set(event.accountId, account);
        counts.push(0);
      }
      ranks.push(++counts[account]!);
      eventAccounts.push(account);
      events.push(event);
    }
  }
  const accounts = [...accountIndex.keys()];
  if (events.length === 0) return { accounts, eventAccounts };
  const ids = `${bind(
    encodeArray(
      { codec: 'text', property: 'id' },
      accounts.map((id) => ({ id })),
    ),
  )}::text[]`;
  // S4. Each count makes its sub-statement run to its end.
  const before = written.length === 0 ? '' : ` where ${written.map((name) => `(select count(*) from ${name})`).join(' + ')} >= 0`;
  ctes.push(
    `all_written as materialized (select 1 from ok${before})`,
    `accounts as materialized (select u.id, u.n, u.i - 1 as i from all_written, unnest(${ids}, ${bind(`{${counts.join(',')}}`)}::int[]) with ordinality u(id, n, i) order by u.id)`,
    // Nearly all counters exist: an update alone costs a third less than an insert with a conflict. Without `any` the whole table is read.
    `counted as (update event_counter c set last_seq = c.last_seq + a.n from accounts a where c.account_id = a.id and c.account_id = any(${ids}) returning a.i, a.id, a.n, c.last_seq)`,
    'first_counted as (insert into event_counter as c (account_id, last_seq) select a.id, a.n from accounts a where not exists (select from counted where counted.i = a.i) order by a.id on conflict (account_id) do update set last_seq = c.last_seq + excluded.last_seq returning account_id, last_seq)',
    'numbers as materialized (select i, id, last_seq, last_seq - n as base from counted union all select a.i, a.id, c.last_seq, c.last_seq - a.n from first_counted c join accounts a on a.id = c.account_id)',
  );
  const columns = [
    { property: 'id', name: 'id', codec: 'text', type: 'text' },
    { property: 'type', name: 'type', codec: 'text', type: 'text' },
    { property: 'taskId', name: 'task_id', codec: 'text', type: 'text' },
    { property: 'data', name: 'data', codec: 'json', type: 'json' },
    { property: 'createdAt', name: 'created_at', codec: 'time', type: 'timestamptz' },
  ] as const;
  const drafts = selectUnnested([
    ['account', `${bind(`{${eventAccounts.join(',')}}`)}::int[]`],
    ['rank', `${bind(`{${ranks.join(',')}}`)}::int[]`],
    ...columns.map((column) => [column.name, arrayExpression(column, values(bind, encodeArray(column, events)))] as const),
  ]);
  ctes.push(
    `events as (insert into event (account_id, seq, id, type, task_id, data, created_at) select a.id, a.base + e.rank, e.id, e.type, e.task_id, e.data, to_timestamp(e.created_at / 1000) from numbers a join (${drafts}) e on e.account = a.i)`,
  );
  return { accounts, eventAccounts };
}

/** Binds a value and returns its parameter number. */
function values(bind: (value: unknown) => string, value: unknown): number {
  return Number(bind(value).slice(1));
}
