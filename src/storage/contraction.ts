/**
 * Migrations only expand: the version before goes on writing to the tables while a roll lasts. What takes something away is a contraction and
 * stands here. It belongs to a release later than the one that has stopped using what it takes away.
 */
import type pg from 'pg';
import { connectionNames } from './server-functions.ts';

export type Contraction = {
  /** Of which release it is a part. */
  release: string;
  /** The release before still uses what it takes away: it runs only while no node does. To be true of none that comes. */
  needsStop: boolean;
};

export const contractions: Readonly<Record<string, Contraction>> = {
  '0006-accounts': { release: '0.1.0', needsStop: true },
  '0013-one-breath': { release: '0.1.0', needsStop: true },
  '0014-subscriptions': { release: '0.1.0', needsStop: true },
};

/** What the connection of the migrations is called. */
export const migrationsName = 'troupe migrations';

/** Rejects, with what to do, where a missing migration would take away what nodes that run now still write, as far as the database tells. */
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
