/** The limit of committing: one connection, one statement per batch, one counter row per command. No events, no fence, no actors. */
import pg from 'pg';
import { serveCalls } from '../support/program.ts';

const actorCount = 1_000;
const client = new pg.Client({ connectionString: process.env.BENCH_DATABASE_URL });
const values = new Array<number>(actorCount).fill(0);

serveCalls({
  async prepare() {
    await client.connect();
    await client.query('create table limit_counter (id text primary key, value bigint not null) with (fillfactor = 50)');
  },

  async add({ inFlight, ms }: { inFlight: number; ms: number }) {
    const beganMs = performance.now();
    let count = 0;
    while (performance.now() - beganMs < ms) {
      const ids: string[] = [];
      const counts: number[] = [];
      for (let i = 0; i < inFlight; i++) {
        const actor = (count + i) % actorCount;
        ids.push(`c${actor}`);
        counts.push(++values[actor]!);
      }
      await client.query({
        name: 'upsert',
        text: 'insert into limit_counter (id, value) select * from unnest($1::text[], $2::bigint[]) on conflict (id) do update set value = excluded.value',
        values: [ids, counts],
      });
      count += inFlight;
    }
    return { count, elapsedMs: performance.now() - beganMs };
  },
});
