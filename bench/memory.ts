/** What an idle actor weighs: the heap that 100,000 of them take after a collection, beside their states in a Map. */
import pg from 'pg';
import { createCounterTable } from './support/counter.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

const actorCount = 100_000;
/** With id, account and value it makes a state of 200 bytes as JSON. */
const noteChars = 128;

export async function benchMemory(surroundings: Surroundings): Promise<Row[]> {
  const url = await surroundings.emptyDatabase();
  const ids = await fillTable(url);
  const env = { BENCH_DATABASE_URL: url };
  const nodeOptions = ['--expose-gc'];
  const ours = new Program('programs/counter-node.ts', { env, nodeOptions: [...nodeOptions, ...surroundings.profiled('memory')] });
  const limit = new Program('limits/objects-in-map.ts', { env, nodeOptions });
  try {
    await ours.call('prepare');
    const bytesEach = async (program: Program): Promise<number> => {
      const { grownBytes, held } = await program.call<{ grownBytes: number; held: number }>('activate', ids);
      if (held < actorCount) throw new Error(`only ${held} actors were in memory`);
      return grownBytes / actorCount;
    };
    const figures = { ours: await bytesEach(ours), limit: await bytesEach(limit) };
    return [makeRow({ bench: 'memory', row: 'an idle actor', unit: 'bytes', reach: { atMost: 2.5 }, ...figures })];
  } finally {
    await Promise.all([ours.end(), limit.end()]);
  }
}

async function fillTable(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(createCounterTable);
    const { rows } = await client.query<{ id: string }>(
      `insert into bench_counter select 'c' || n, 'acct_' || n, n, rpad('note ' || n, $2, 'x') from generate_series(100001, 100000 + $1) n returning id`,
      [actorCount, noteChars],
    );
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}
