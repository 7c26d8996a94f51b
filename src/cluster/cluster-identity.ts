/** Which cluster this is: as many as there are databases. */
import pg from 'pg';
import { AppError } from '../errors.ts';

const patienceMs = 5_000;

/**
 * The random identity that this database was given with its tables: the same for all its nodes, for good. Rejects `unavailable` when the
 * database does not answer within 5 seconds.
 */
export async function clusterIdentity(databaseUrl: string): Promise<string> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'troupe cluster identity',
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  // A connection that breaks fails the query on it; unheard, it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>('select id from cluster_identity');
    return rows[0]!.id;
  } catch (error) {
    throw new AppError('unavailable', 'The database does not say which cluster it belongs to', { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}
