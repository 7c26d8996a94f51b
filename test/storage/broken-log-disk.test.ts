/** The disk of PostgreSQL's log breaks while rows are committed: what was answered is there after the repair. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { OwnPostgres } from '../support/own-postgres.ts';
import { randomFrom } from '../support/random.ts';
import { withoutVolumes } from '../support/volume.ts';

/** Only a commit that is under way when the disk breaks can be lost: about each fourth break meets one. */
const breaks = 8;
const longestMs = 200;
/** More than a page of the log: each commit needs a block of the disk that was never written. */
const contentBytes = 10_000;

test('no commit that was answered is lost with the disk of the log', { skip: await withoutVolumes(), timeout: 300_000 }, async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const random = randomFrom(seed);
  const postgres = await OwnPostgres.start({ disks: true });
  t.after(() => postgres.close());
  await using(postgres, (client) => client.query('create table committed (n int, content bytea)'));
  let answered = 0;
  for (let n = 0; n < breaks; n++) {
    const committing = using(postgres, async (client) => {
      for (;;) {
        await client.query('insert into committed values ($1, $2)', [answered + 1, randomBytes(contentBytes)]);
        answered++;
      }
    });
    const ended = assert.rejects(committing);
    await pause(random.between(1, longestMs));
    await postgres.disks!.log.breakDown();
    await ended;
    await postgres.end();
    await postgres.disks!.log.repair();
    await postgres.startAgain();
    const { rows } = await using(postgres, (client) =>
      client.query<{ count: string; last: number }>('select count(*), coalesce(max(n), 0) as last from committed'),
    );
    const { count, last } = rows[0]!;
    // The last one may have been committed without an answer.
    assert.ok(last === answered || last === answered + 1, `${answered} were answered, ${last} are there (break ${n + 1})`);
    assert.equal(Number(count), last);
    answered = last;
  }
  t.diagnostic(`${answered} commits`);
});

async function using<T>({ directUrl }: OwnPostgres, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: directUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.end().catch(() => {});
  }
}
