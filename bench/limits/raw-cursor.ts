/** The limit of a replay: the same rows read through one cursor, and nothing done with them. */
import pg from 'pg';
import { serveCalls } from '../support/program.ts';

const rowsAtATime = 1_000;

serveCalls({
  /** Milliseconds that reading all events of the account took. */
  async read({ account }: { account: number }): Promise<number> {
    const client = new pg.Client({ connectionString: process.env.BENCH_DATABASE_URL! });
    await client.connect();
    try {
      const beganMs = performance.now();
      await client.query('begin');
      await client.query(
        `declare events cursor for select seq, id, type, task_id, data::text, created_at::text from event where account_id = 'acct_${account}' order by seq`,
      );
      for (;;) {
        const { rowCount } = await client.query({ text: `fetch ${rowsAtATime} from events`, rowMode: 'array' });
        if (rowCount === 0) break;
      }
      await client.query('commit');
      return performance.now() - beganMs;
    } finally {
      await client.end();
    }
  },
});
