/** Which cluster this is: as many as there are databases. */
import type pg from 'pg';
import { AppError } from '../errors.ts';
import { connect } from '../storage/connect.ts';

const patienceMs = 5_000;

/**
 * The random identity that this database was given with its tables: the same for all its nodes, for good. Rejects `unavailable` when the
 * database does not answer within 5 seconds.
 */
export async function clusterIdentity(databaseUrl: string): Promise<string> {
  let client: pg.Client | null = null;
  try {
    client = await connect({
      url: databaseUrl,
      name: 'troupe cluster identity',
      connectTimeoutMs: patienceMs,
      queryTimeoutMs: patienceMs,
    });
    const { rows } = await client.query<{ id: string }>('select id from cluster_identity');
    return rows[0]!.id;
  } catch (error) {
    throw new AppError('unavailable', 'The database does not say which cluster it belongs to', { cause: error });
  } finally {
    await client?.end().catch(() => {});
  }
}
