/**
 * Files in PostgreSQL, for the nodes of a cluster: every node sees all files, and no file is lost with a node. Contents are rows of chunks;
 * at most two chunks of a file are in memory, and no connection is held while waiting for a slow client.
 *
 * P1 The content of a key is complete: chunks are written to a content that is `arriving`, and one statement assigns it to the key.
 * P2 A content's chunks never change. A replaced or removed content is `gone`, and started readers can finish: the housekeeping job
 *    (`looseContents`) deletes it later. The job also deletes contents that a crash left incomplete.
 * P3 At most two statements of files run at a time on a node, so that files never delay statements of actors.
 */
import { pipeline, Readable } from 'node:stream';
import type pg from 'pg';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Database } from './database.ts';
import { checkedKey } from './file-key.ts';
import type { FileStore, StoredContent } from './files.ts';
import { Gate } from './gate.ts';
import type { HousekeepingJob } from './maintenance.ts';
import { Measure } from './measure.ts';

const chunkBytes = 256 * 1024;
const maxStatements = 2;
const maxWaiting = 1_000;
const pageSize = 1_000;
/** Longer than any upload or download. */
const sweptAfterMs = 2 * 3_600_000;
/** Contents in one piece of the housekeeping job. They may be large: one piece ends within a few seconds. */
const sweptAtOnce = 50;

export function openPostgresFiles(database: Database): FileStore {
  const gate = new Gate({ maxInside: maxStatements, maxWaiting, full: 'Too many files are on their way now' });
  const run = (statement: pg.QueryConfig) => gate.pass(() => database.write(statement));

  async function beginUpload(key: string): Promise<number> {
    const { rows } = await run({
      name: 'file_arrive',
      text: `insert into file_content (key, status, size_bytes, changed_at) values ($1, 'arriving', 0, now()) returning id`,
      values: [key],
    });
    return rows[0].id;
  }

  /** Does not wait for the disk: the later statement that makes the content present waits, and also syncs everything written before. */
  async function append(id: number, position: number, bytes: Buffer): Promise<void> {
    const { rows } = await run({
      name: 'file_append',
      text: `with quick as (select set_config('synchronous_commit', 'off', true))
        insert into file_chunk (content_id, position, bytes)
        select id, $2::int, $3::bytea from quick, file_content where id = $1 and status = 'arriving' returning 1`,
      values: [id, position, bytes],
    });
    if (rows.length === 0) throw tookTooLong();
  }

  /** If two contents become present for one key at the same time, both stay; the one that began later is served, until either is replaced. */
  async function makePresent(id: number, key: string, sizeBytes: number): Promise<void> {
    const { rows } = await run({
      name: 'file_present',
      text: `with replaced as (update file_content set status = 'gone', changed_at = now() where key = $2 and status = 'present')
        update file_content set status = 'present', size_bytes = $3, changed_at = now() where id = $1 and status = 'arriving' returning id`,
      values: [id, key, sizeBytes],
    });
    if (rows.length === 0) throw tookTooLong();
  }

  async function discard(id: number): Promise<void> {
    const text = `update file_content set status = 'gone', changed_at = now() where id = $1`;
    // A content that cannot be marked now is deleted later as an unfinished upload.
    await run({ name: 'file_give_up', text, values: [id] }).catch(() => {});
  }

  async function* chunksOf(id: number, start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at <= end; ) {
      const from = at % chunkBytes;
      const length = Math.min(chunkBytes - from, end - at + 1);
      const { rows } = await run({
        name: 'file_chunk',
        text: 'select substring(bytes from $3::int for $4::int) as bytes from file_chunk where content_id = $1 and position = $2',
        values: [id, Math.floor(at / chunkBytes), from + 1, length],
      });
      // Deleted while a reader took hours; content that ends early must not look complete.
      if (rows[0]?.bytes.length !== length) throw new AppError('unavailable', 'The file went away while it was read');
      yield rows[0].bytes;
      at += length;
    }
  }

  return {
    async put(key, content, maxBytes) {
      checkedKey(key);
      const measure = new Measure(maxBytes);
      // Errors pass in both directions: a failing content ends the loop with its error, a failing loop stops the content.
      pipeline(content, measure, () => {});
      let id: number | null = null;
      try {
        id = await beginUpload(key);
        let position = 0;
        for await (const bytes of chunked(measure)) await append(id, position++, bytes);
        const stored = measure.result();
        await makePresent(id, key, stored.sizeBytes);
        return stored;
      } catch (error) {
        measure.destroy();
        if (id !== null) await discard(id);
        throw error;
      }
    },

    async open(key, range): Promise<Readable> {
      const { rows } = await run({
        name: 'file_open',
        text: `select id, size_bytes from file_content where key = $1 and status = 'present' order by id desc limit 1`,
        values: [checkedKey(key)],
      });
      if (rows.length === 0) throw new AppError('not_found', 'Not Found');
      const last = rows[0].size_bytes - 1;
      const chunks = chunksOf(rows[0].id, range?.start ?? 0, Math.min(range?.end ?? last, last));
      return Readable.from(chunks, { objectMode: false, highWaterMark: chunkBytes });
    },

    async remove(key) {
      await run({
        name: 'file_remove',
        text: `update file_content set status = 'gone', changed_at = now() where key = $1 and status = 'present'`,
        values: [checkedKey(key)],
      });
    },

    presignedUrl: async () => null,

    async *contents(): AsyncGenerator<StoredContent> {
      for (let after = 0; ; ) {
        const { rows } = await run({
          name: 'file_contents',
          text: `select id, key, changed_at as "modifiedAtMs" from file_content where id > $1 and status = 'present' order by id limit ${pageSize}`,
          values: [after],
        });
        for (const { key, modifiedAtMs } of rows) yield { key, modifiedAtMs };
        if (rows.length < pageSize) return;
        after = rows.at(-1).id;
      }
    },

    /** Writes nothing: a database that accepts commits accepts chunks. */
    async check() {
      await run({ name: 'file_check', text: 'select from file_content limit 1' });
    },
  };
}

/** Whether the database holds files of an earlier cluster: then a single node must look there too. */
export async function holdsContents(database: Database): Promise<boolean> {
  const { rows } = await database.read({ text: `select exists (select from file_content where status = 'present') as found` });
  return rows[0].found;
}

/** Deletes contents that were replaced or removed, and unfinished uploads. */
export function looseContents(clock: Clock): HousekeepingJob {
  return {
    name: 'loose contents',
    pieceRows: sweptAtOnce,
    async runBatch(limit, client) {
      const { rowCount } = await client.query(
        `delete from file_content where id = any(array(select id from file_content
          where status <> 'present' and changed_at < to_timestamp($1::float8 / 1000) order by changed_at limit $2))`,
        [clock.nowMs() - sweptAfterMs, limit],
      );
      const removed = rowCount ?? 0;
      return { seen: removed, removed };
    },
  };
}

/** The housekeeping job has deleted the content as an unfinished upload. */
function tookTooLong(): AppError {
  return new AppError('unavailable', 'Storing the file took too long');
}

/** The same bytes in chunks of `chunkBytes`; only the last is shorter. */
async function* chunked(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    parts.push(part);
    bytes += part.length;
    if (bytes < chunkBytes) continue;
    const whole = Buffer.concat(parts);
    let at = 0;
    for (; whole.length - at >= chunkBytes; at += chunkBytes) yield whole.subarray(at, at + chunkBytes);
    parts = [whole.subarray(at)];
    bytes = whole.length - at;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}
