import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tradingSchema } from '../../src/domains/trading/schema.ts';
import { TradingOrder } from '../../src/domains/trading/trading-order/entity.ts';
import { Database } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database.ts';

test('rows are loaded by their index, also after the plan was made while the table was empty', async (t) => {
  const server = await testDatabase();
  const database = new Database(server.url, { poolSize: 1, schema: tradingSchema });
  await database.migrate();
  t.after(async () => {
    await database.close();
    await server.close();
  });
  const ids = Array.from({ length: 100 }, (_, n) => `ord_${n}`);
  // After five uses PostgreSQL may keep one plan.
  for (let n = 0; n < 8; n++) await database.load(database.table(TradingOrder), ids);
  const { rows } = await database.pool.query(`explain (costs off) execute load_trading_order('{${ids.join(',')}}')`);
  const plan = JSON.stringify(rows);
  assert.match(plan, /Index Cond/);
  assert.doesNotMatch(plan, /Seq Scan/);
});
