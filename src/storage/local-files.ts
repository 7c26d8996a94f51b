/**
 * Files in a local directory. A file is written under a temporary name, synced, and then renamed: readers see the old or the new content,
 * and a crash leaves only a temporary file that the next start deletes.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../errors.ts';
import { type DiskSpace, isDiskFullError, storageFull } from './disk-space.ts';
import { checkedKey } from './file-key.ts';
import { writeProbe } from './file-probe.ts';
import type { FileStore } from './files.ts';
import { localContents } from './local-contents.ts';
import { Measure } from './measure.ts';

/** Read at once: a stream of a file allocates as much for its first read alone. */
const smallBytes = 64 * 1024;
/** No key begins with a dot. */
const incomingName = '.incoming';

/**
 * Opens the store in `directory` (created if missing) and removes incomplete files of an earlier process. One process at a time.
 *
 * @param space throws if the disk is full; `put` rejects with that error
 */
export async function openLocalFiles(directory: string, space: Pick<DiskSpace, 'check'> = { check() {} }): Promise<FileStore> {
  const incoming = join(directory, incomingName);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });

  /** An upload that began while there was space must also stop before it fills the disk. */
  async function* whileSpace(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      space.check();
      yield chunk;
    }
  }

  const store: FileStore = {
    async put(key, content, maxBytes) {
      space.check();
      const target = join(directory, checkedKey(key));
      const temporary = join(incoming, randomUUID());
      const measure = new Measure(maxBytes);
      // No one else listens for errors of the content while the file is being opened; `errored` keeps the error.
      content.on('error', () => {});
      const file = await open(temporary, 'wx', 0o600);
      try {
        await pipeline(content, measure, whileSpace, file.createWriteStream({ flush: true }));
        await mkdir(dirname(target), { recursive: true });
        await rename(temporary, target);
      } catch (error) {
        await file.close().catch(() => {});
        await rm(temporary, { force: true });
        throw content.errored ?? (isDiskFullError(error) ? storageFull(error) : error);
      }
      await syncDirectory(dirname(target));
      return measure.result();
    },

    async open(key, range): Promise<Readable> {
      const { file, sizeBytes } = await openForReading(join(directory, checkedKey(key)));
      if (range === undefined && sizeBytes <= smallBytes) return readableOf(await readAndClose(file, sizeBytes));
      return file.createReadStream(range === undefined ? {} : { start: range.start, end: range.end });
    },

    async remove(key) {
      const target = join(directory, checkedKey(key));
      await rm(target, { force: true });
    },

    presignedUrl: async () => null,

    contents: () => localContents(directory),

    check: () => writeProbe(store),
  };
  return store;
}

async function openForReading(path: string): Promise<{ file: FileHandle; sizeBytes: number }> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') throw new AppError('not_found', 'Not Found', { cause });
    throw cause;
  }
  const found = await file.stat();
  if (found.isFile()) return { file, sizeBytes: found.size };
  await file.close();
  throw new AppError('not_found', 'Not Found');
}

/** A content does not change, so it has the size that it had. */
async function readAndClose(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  try {
    const bytes = Buffer.allocUnsafe(sizeBytes);
    for (let at = 0; at < sizeBytes; ) {
      const { bytesRead } = await file.read(bytes, at, sizeBytes - at, at);
      if (bytesRead === 0) return bytes.subarray(0, at);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

function readableOf(bytes: Buffer): Readable {
  return new Readable({
    read() {
      if (bytes.length > 0) this.push(bytes);
      this.push(null);
    },
  });
}

/** Makes the new name survive a power failure. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
