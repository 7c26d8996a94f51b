/**
 * Migrations only expand: during a rolling deploy the version before still writes to the tables. A migration that removes something is a
 * contraction and is listed here. It belongs to a later release than the one that stopped using the removed part.
 */
import type pg from 'pg';
import { connectionNames } from './server-functions.ts';

export type Contraction = {
  /** The release that contains it. */
  release: string;
  /** The release before still uses the removed part: the contraction runs only while no node does. Must not be true for new ones. */
  needsStop: boolean;
};

export const contractions: Readonly<Record<string, Contraction>> = {
  '0006-accounts': { release: '0.1.0', needsStop: true },
  '0013-one-breath': { release: '0.1.0', needsStop: true },
  '0014-subscriptions': { release: '0.1.0', needsStop: true },
};

/** Name of the migrations' connection. */
export const migrationsName = 'troupe migrations';

/** Rejects, with instructions, if a missing migration would remove what running nodes still write, as far as the database shows them. */
export async function refuseUnderRunningNodes(client: pg.Client): Promise<void> {
  const there = await client.query(`select to_regclass('migration') is not null as is`);
  if (!there.rows[0].is) return;
  const { rows } = await client.query<{ name: string }>('select name from migration');
  const done = new Set(rows.map(({ name }) => name));
  const missing = Object.entries(contractions).filter(([name, { needsStop }]) => needsStop && !done.has(name));
  if (missing.length === 0) return;
  const names = await connectionNames(client, migrationsName);
  if (![...(names ?? [])].some((name) => name.startsWith('troupe node '))) return;
  throw new Error(
    `The database is of a version older than migration ${missing.at(-1)![0]}, and migrations take away what that version writes: stop all nodes, then start this one`,
  );
}
