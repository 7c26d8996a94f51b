/** The limit of memory: the very rows that the actors' states are, read by the same loader, in one Map and nothing else. */
import { Database } from '../../src/storage/database.ts';
import { CounterEntity } from '../support/counter.ts';
import { serveCalls } from '../support/program.ts';

const database = new Database(process.env.BENCH_DATABASE_URL!, { schema: { entities: [CounterEntity] } });
const held = new Map<string, object>();

serveCalls({
  async activate(ids: string[]) {
    const table = database.table(CounterEntity);
    const before = heapBytes();
    const together = 500;
    for (let i = 0; i < ids.length; i += together) {
      const rows = await database.load(table, ids.slice(i, i + together));
      for (const [id, row] of rows) held.set(id, row);
    }
    return { grownBytes: heapBytes() - before, held: held.size };
  },
});

function heapBytes(): number {
  for (let i = 0; i < 3; i++) globalThis.gc!();
  return process.memoryUsage().heapUsed;
}
