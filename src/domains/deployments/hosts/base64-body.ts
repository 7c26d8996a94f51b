/** Request bodies with files: each is written into one buffer, so that it is in memory once, in addition to the file that is being read. */
import type { SiteFile } from '../snapshot/site.ts';
import type { Publication } from './host.ts';
import { contentOf } from './upload.ts';

/** Text and bytes as they are, or a file's content in base64. */
export type Piece = string | Uint8Array | SiteFile;

export async function bodyOf(pieces: readonly Piece[], publication: Pick<Publication, 'open' | 'signal'>): Promise<Uint8Array> {
  const body = Buffer.allocUnsafe(pieces.reduce((total, piece) => total + lengthOf(piece), 0));
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += body.write(piece, at, 'utf8');
    else if (piece instanceof Uint8Array) {
      body.set(piece, at);
      at += piece.length;
    } else at += body.write(Buffer.from(await contentOf(publication, piece)).toString('base64'), at, 'latin1');
  }
  return body;
}

/** The maximum memory of such a body while it is written. */
export function memoryOf(files: readonly SiteFile[]): number {
  return files.reduce((total, { sizeBytes }) => total + 3 * sizeBytes + 512, 0);
}

function lengthOf(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  return piece instanceof Uint8Array ? piece.length : 4 * Math.ceil(piece.sizeBytes / 3);
}
