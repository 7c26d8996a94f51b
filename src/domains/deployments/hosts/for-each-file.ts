/** Work over all files of a site in pieces, with other work of the node between them, so that a large site does not block the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SiteFile } from '../snapshot/site.ts';

/** A few milliseconds of hashing names. */
const pieceFiles = 1_000;

export async function forEachFile(files: readonly SiteFile[], work: (file: SiteFile, at: number) => void): Promise<void> {
  for (let at = 0; at < files.length; at++) {
    if (at > 0 && at % pieceFiles === 0) await nextTurn();
    work(files[at]!, at);
  }
}
