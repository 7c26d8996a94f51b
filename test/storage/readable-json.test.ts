/** The fields of a stored json value can be read, whatever escapes its texts contain, and stay what they are as far as they can be text. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import pg from 'pg';
import { readableJson } from '../../src/storage/readable-json.ts';
import { testDatabase } from '../support/database.ts';

async function connect(t: TestContext): Promise<pg.Client> {
  const database = await testDatabase({ empty: true });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await database.close();
  });
  return client;
}

test('pairs of surrogates are kept, and only what cannot be text is dropped', async (t) => {
  const client = await connect(t);
  const cases: [escaped: string, read: string][] = [
    ['tea \\ud83c\\udf75 at four', 'tea \u{1f375} at four'],
    ['\\uD83C\\uDF75\\uD83C\\uDF75', '\u{1f375}\u{1f375}'],
    ['first half \\ud83c alone', 'first half  alone'],
    ['second half \\udf75 alone', 'second half  alone'],
    ['\\ud83c\\ud83c\\udf75\\udf75', '\u{1f375}'],
    ['\\udf75\\ud83c', ''],
    ['\\ud83c\\u0000\\udf75', ''],
    ['a\\u0000b', 'ab'],
    ['\\\\ud83c \\\\u0000 \\\\\\\\ud83c', '\\ud83c \\u0000 \\\\ud83c'],
    ['\\\\\\ud83c\\udf75 \\\\\\udf75', '\\\u{1f375} \\'],
    ['\\u00e9\\ue000', '\u00e9\ue000'],
  ];
  for (const [escaped, read] of cases) {
    const { rows } = await client.query(`select ${readableJson('value')}->>'text' as text from (select $1::json as value) one`, [
      `{"text":"${escaped}"}`,
    ]);
    assert.equal(rows[0].text, read, escaped);
  }
});
