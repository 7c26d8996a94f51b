/**
 * The large parts of results, in the file store: compressed, under keys that follow from the id. Computing a backtest again after a crash stores the same
 * bytes under the same keys.
 */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { FileStore } from '../../../storage/files.ts';

export const resultFiles = ['equity.csv', 'trades.csv', 'equity.json', 'equity.svg', 'runs.json'] as const;
export type ResultFile = (typeof resultFiles)[number];

/** Files that grow with the number of bars: those of an account's oldest backtests are removed (`old-files.ts`). */
export const largeFiles = ['equity.csv', 'trades.csv'] as const satisfies readonly ResultFile[];

/** 5,000,000 lines of a curve take a fifth of this. */
const maxBytes = 256 * 2 ** 20;

export class StoredResults {
  private readonly files: FileStore;

  constructor(files: FileStore) {
    this.files = files;
  }

  /** @param compressed by gzip */
  async put(id: string, file: ResultFile, compressed: Uint8Array): Promise<void> {
    await this.files.put(keyOf(id, file), Readable.from([compressed]), maxBytes);
  }

  /** The uncompressed bytes. Rejects with `not_found`. */
  async open(id: string, file: ResultFile): Promise<Readable> {
    const stored = await this.files.open(keyOf(id, file));
    const plain = createGunzip();
    stored.on('error', (error) => plain.destroy(error));
    plain.on('close', () => stored.destroy());
    return stored.pipe(plain);
  }

  async text(id: string, file: ResultFile): Promise<string> {
    return text(await this.open(id, file));
  }

  async remove(id: string, files: readonly ResultFile[] = resultFiles): Promise<void> {
    for (const file of files) await this.files.remove(keyOf(id, file));
  }
}

function keyOf(id: string, file: ResultFile): string {
  return `backtests/${id}/${file}.gz`;
}
