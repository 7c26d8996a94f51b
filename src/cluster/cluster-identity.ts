/** The identity of the cluster: one for each database. */
import type pg from 'pg';
import { AppError } from '../errors.ts';
import { connect } from '../storage/connect.ts';

const timeoutMs = 5_000;

/**
 * The random identity that was stored in this database with its tables: the same for all its nodes, permanently. Rejects `unavailable` when
 * the database does not answer within 5 seconds.
 */
export async function clusterIdentity(databaseUrl: string): Promise<string> {
  let client: pg.Client | null = null;
  try {
    client = await connect({
      url: databaseUrl,
      name: 'troupe cluster identity',
      connectTimeoutMs: timeoutMs,
      queryTimeoutMs: timeoutMs,
    });
    const { rows } = await client.query<{ id: string }>('select id from cluster_identity');
    return rows[0]!.id;
  } catch (error) {
    throw new AppError('unavailable', 'The database does not say which cluster it belongs to', { cause: error });
  } finally {
    await client?.end().catch(() => {});
  }
}
