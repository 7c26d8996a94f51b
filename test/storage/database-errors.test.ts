import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { databaseFault, isSqlError } from '../../src/storage/database-errors.ts';
import { testDatabase } from '../support/database.ts';

for (const [fault, codes] of Object.entries({
  contents: ['22001', '22003', '22P05', '23505', '23514', '21000', '54000', 'P0001', 'TR001'],
  blocked: ['55P03', '57014'],
  database: ['40001', '40P01', '42P01', '42703', '25006', '53000', '53100', '53200', '55006', '58030', 'XX000', 'XX001', '0A000'],
})) {
  test(`SQLSTATEs as PostgreSQL raises them are the fault of: ${fault}`, async (t) => {
    const database = await testDatabase({ empty: true });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    t.after(async () => {
      await client.end();
      await database.close();
    });
    for (const code of codes) {
      const error = await client.query(`do $$ begin raise exception 'on purpose' using errcode = '${code}'; end $$`).catch((e) => e);
      assert.equal(error.code, code);
      assert.equal(databaseFault(error), fault, code);
    }
  });
}

test('after an error that ends the server process, or that is none of PostgreSQL, nobody knows what was written', () => {
  const unknown = [
    { code: '53100', severity: 'PANIC' },
    { code: '58030', severity: 'FATAL' },
    { code: '58030', severity: 'PANIK' },
    { code: '57P01', severity: 'FATAL' },
    { code: '08006', severity: 'ERROR' },
    { code: 'ECONNRESET' },
    { code: 'EPIPE' },
    {},
  ];
  for (const fields of unknown) {
    const error = Object.assign(new Error('lost'), fields);
    assert.equal(isSqlError(error), false, JSON.stringify(fields));
    assert.equal(databaseFault(error), null, JSON.stringify(fields));
  }
});
