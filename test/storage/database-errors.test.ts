import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { Database, unavailableIfUnreachable } from '../../src/storage/database.ts';
import { databaseFault, isPassingRefusal, isSqlError } from '../../src/storage/database-errors.ts';
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

test('after an error that ends the server process, or that is not PostgreSQL’s, the outcome of a write is unknown', () => {
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

test('temporary refusals of the server are 503 for reads, writes and lists; other refusals are not changed', async (t) => {
  const { url, close } = await testDatabase();
  const database = new Database(url);
  t.after(async () => {
    await database.close();
    await close();
  });
  const refusedWith = (code: string) => `do $$ begin raise exception 'on purpose' using errcode = '${code}'; end $$`;
  for (const [expected, codes] of Object.entries({
    storage_full: ['53100'],
    // Of 42501: a file system that an error of the disk made read-only. Of 25006: a standby.
    unavailable: ['53200', '53300', '53400', '58000', '58030', '58P01', '42501', '25006'],
    own: ['23505', '42P01', '22001', 'XX000'],
  }))
    for (const code of codes) {
      const wanted = expected === 'own' ? code : expected;
      await assert.rejects(database.write({ text: refusedWith(code) }), { code: wanted });
      const listed = await database.list('account', (em) => em.getDriver().execute(refusedWith(code))).catch((error) => error);
      assert.equal((unavailableIfUnreachable(listed) as { code: string }).code, wanted, code);
    }
});

test('refused and broken connections count as temporary, also as a cause; silence and permanent refusals do not', () => {
  const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);
  const broken = error('Connection terminated unexpectedly');
  const passing = [
    ...['57P01', '57P02', '57P03', '53300', '08006', '08P01', 'ECONNRESET'].map((code) => error('refused', { code })),
    broken,
    new Error('cannot be used', { cause: broken }),
  ];
  for (const one of passing) assert.equal(isPassingRefusal(one), true, JSON.stringify(one));
  const lasting = [
    ...['28P01', '28000', '3D000', '42501', '53100', '57014', 'ECONNREFUSED', 'ENOTFOUND'].map((code) => error('refused', { code })),
    error('timeout expired'),
    // The pool of the driver ends a connection that is not made in time.
    new Error('Connection terminated due to connection timeout', { cause: broken }),
    new TypeError('not a function'),
  ];
  for (const one of lasting) assert.equal(isPassingRefusal(one), false, `${one.message} ${JSON.stringify(one)}`);
});
