/**
 * Finds the rows of a batch that another session has locked, so that only the units that need them leave the batch. Rows are named
 * `TABLE/KEY`; a table that is locked as a whole, e.g. by `alter table`, has its own name.
 *
 * Not found: rows that another session has inserted and not committed, and rows of tables with a composite key.
 */
import type pg from 'pg';
import type { CommitUnit } from './commit-unit.ts';
import { lockNotAvailable } from './database-errors.ts';
import type { Row, Table } from './table.ts';

type Lock = 'share' | 'no key update' | 'update';
type Touch = (table: string, column: string, type: 'int' | 'text', key: string, lock: Lock) => void;

const counters = 'event_counter';
const shards = 'shard';

/** Rows that units of several actors share: a lock on one delays them all. */
export function isShared(name: string): boolean {
  return !name.includes('/') || name.startsWith(`${counters}/`) || name.startsWith(`${shards}/`);
}

/** The names of rows that this unit changes. */
export function touchedOf(unit: CommitUnit, names: { has(name: string): boolean }): string[] {
  const touched = new Set<string>();
  const note = (name: string) => names.has(name) && touched.add(name);
  eachRow(unit, (table, _column, _type, key) => {
    note(table);
    note(`${table}/${key}`);
  });
  for (const table of otherTables(unit)) note(table);
  return [...touched];
}

/** Never waits for a row. Locks free rows for the length of one statement. */
export async function lockedRows(client: pg.Client, units: readonly CommitUnit[]): Promise<Set<string>> {
  const lookups = new Map<string, { column: string; type: string; lock: Lock; keys: Set<string> }>();
  for (const unit of units) {
    eachRow(unit, (table, column, type, key, lock) => {
      const known = lookups.get(table);
      if (known === undefined) lookups.set(table, { column, type, lock, keys: new Set([key]) });
      else known.keys.add(key);
    });
  }
  const locked = new Set<string>();
  const query = async (table: string, text: string, values: unknown[]) => {
    try {
      const { rows } = await client.query<{ k: string }>(text, values);
      for (const { k } of rows) locked.add(`${table}/${k}`);
    } catch (error) {
      // The statement skips locked rows, so the table itself is locked.
      if ((error as { code?: unknown }).code !== lockNotAvailable) throw error;
      locked.add(table);
    }
  };
  for (const [table, { column, type, lock, keys }] of lookups) {
    await query(
      table,
      `with free as materialized (select ${column} as k from ${table} where ${column} = any($1::${type}[]) for ${lock} skip locked)
       select t.${column}::text as k from ${table} t where t.${column} = any($1::${type}[]) and not exists (select from free f where f.k = t.${column})`,
      [[...keys]],
    );
  }
  const others = new Set(units.flatMap((unit) => [...otherTables(unit)]));
  for (const table of others) if (!lookups.has(table)) await query(table, `select '' as k from ${table} limit 0`, []);
  return locked;
}

function eachRow(unit: CommitUnit, touch: Touch): void {
  touch(shards, 'shard', 'int', String(unit.shard), 'share');
  const row = (table: Table, values: object) => {
    const [key, ...others] = table.primaryKey;
    if (key !== undefined && others.length === 0 && key.codec === 'text')
      touch(table.name, key.name, 'text', String((values as Row)[key.property]), 'no key update');
  };
  for (const part of unit.parts) if (part.row !== null) row(part.table!, part.row);
  if (unit.rows !== null) for (const [table, rows] of unit.rows) for (const values of rows.values()) row(table, values);
  for (const id of unit.consumedMessages) touch('message', 'id', 'text', id, 'update');
  for (const ids of [unit.consumedEffects, unit.startedEffects, unit.restartedEffects, unit.cancelledEffects])
    for (const id of ids) touch('effect', 'id', 'text', id, 'update');
  for (const { accountId } of unit.events) touch(counters, 'account_id', 'text', accountId, 'no key update');
}

/** Tables into which the unit only inserts, or whose rows have no single key. */
function* otherTables(unit: CommitUnit): Iterable<string> {
  if (unit.rows !== null) for (const table of unit.rows.keys()) yield table.name;
  if (unit.messages.length > 0) yield 'message';
  if (unit.effects !== null) yield 'effect';
  if (unit.events.length > 0) yield 'event';
  if (unit.commands.length > 0) yield 'command_record';
  if (unit.deadLetters.length > 0) yield 'dead_letter';
  if (unit.parts.some(({ timers }) => timers !== null)) yield 'timer';
}
