import assert from 'node:assert/strict';
import test from 'node:test';
import { clusterIdentity } from '../../src/cluster/cluster-identity.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

test('the identity of a database never changes and differs from that of every other database', async (t) => {
  const ids: string[] = [];
  for (let i = 0; i < 2; i++) {
    const { url, close } = await testDatabase({ empty: true });
    const database = new Database(url);
    t.after(async () => {
      await database.close();
      await close();
    });
    await assert.rejects(clusterIdentity(url), { code: 'unavailable' });
    await database.migrate();
    const id = await clusterIdentity(url);
    await database.migrate();
    assert.equal(await clusterIdentity(url), id);
    await assert.rejects(database.write({ text: `insert into cluster_identity (single, id) values (false, 'b')` }));
    await assert.rejects(database.write({ text: `insert into cluster_identity (id) values ('b')` }));
    ids.push(id);
  }
  assert.notEqual(ids[0], ids[1]);
});
