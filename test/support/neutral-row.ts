/** Rows for tests that need a row with only some specific columns. */
import type { Database } from '../../src/storage/database.ts';

const neutral: Record<string, unknown> = {
  text: '',
  integer: 0,
  bigint: 0,
  boolean: false,
  json: [],
  'timestamp with time zone': new Date(0),
};

/** Inserts a row with these values; every other column that must not be null gets its type's neutral value. */
export async function insertNeutralRow(database: Database, table: string, values: Record<string, unknown>): Promise<void> {
  const { rows } = await database.pool.query(
    'select column_name as name, data_type as type, is_nullable from information_schema.columns where table_name = $1',
    [table],
  );
  const filled = rows.filter((column) => column.is_nullable === 'NO').map((column) => [column.name, neutral[column.type]]);
  await database.pool.query(`insert into ${table} select * from json_populate_record(null::${table}, $1)`, [
    JSON.stringify({ ...Object.fromEntries(filled), ...values }),
  ]);
}
