/** Old code on the new schema: statements of the version before have the same effect on the newest schema. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import pg from 'pg';
import { testDatabase } from '../support/database.ts';
import { type PreviousVersion, replay } from '../support/previous-version.ts';
import type { Scope } from '../support/scope.ts';

const previous: PreviousVersion = JSON.parse(readFileSync(new URL('../fixtures/previous-version.json', import.meta.url), 'utf8'));

async function connect(t: Scope): Promise<pg.Client> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await database.close();
  });
  return client;
}

test('every recorded statement of the version before has the same effect on the newest schema', async (t) => {
  const client = await connect(t);
  const commits = previous.statements.filter(({ values }) => values !== undefined);
  assert.ok(commits.length > 20 && previous.statements.length > 150, 'the record is whole');
  const faults: object[] = [];
  for (const statement of previous.statements) {
    const fault = await replay(client, statement);
    if (fault !== null) faults.push({ fault, text: statement.text });
  }
  assert.deepEqual(faults, []);
});

test('the replay detects changes that would break the version before', async (t) => {
  const client = await connect(t);
  const broken = async (change: string) => {
    await client.query(change);
    for (const statement of previous.statements) if ((await replay(client, statement)) !== null) return true;
    return false;
  };
  assert.ok(await broken('alter table timer add place text not null'), 'a column that it does not give');
  await client.query('alter table timer drop place');
  assert.ok(await broken('alter table card rename column name to label'), 'a column that has another name');
});
