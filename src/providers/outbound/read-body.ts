/** Reads an answer's body up to a limit, counted after decompression, so that a few kilobytes cannot become gigabytes. */
import type { Readable } from 'node:stream';
import { addAbortSignal, pipeline, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../errors.ts';

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The first `maxBytes` of the body. Ends the connection if there is more. Rejects for an incomplete or damaged body, and when aborted. */
export async function readBody(
  source: Readable,
  contentEncoding: string | string[] | undefined,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const plain = decompressed(source, [contentEncoding ?? []].flat().join(','));
  addAbortSignal(signal, plain);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of plain as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true };
    }
    return { body: Buffer.concat(chunks), truncated: false };
  } finally {
    // Ends the transfer of the rest; the resulting error is expected.
    source.on('error', () => {}).destroy();
    plain.on('error', () => {}).destroy();
  }
}

/** The same bytes; fails when aborted and when more than `maxBytes` have arrived, and ends the transfer with it. */
export function boundedBody(source: Readable, maxBytes: number, signal: AbortSignal | undefined): Readable {
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(new AppError('unavailable', `The answer is longer than ${maxBytes} bytes`));
      done(null, chunk);
    },
  });
  // A body that is not read any more may fail without a listener.
  bounded.on('error', () => {});
  pipeline(source, bounded, () => {});
  return signal === undefined ? bounded : addAbortSignal(signal, bounded);
}

function decompressed(source: Readable, contentEncoding: string): Readable {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const encodings = names.filter((name) => name !== '' && name !== 'identity');
  if (encodings.length === 0) return source;
  const decoder = decoders[encodings[0]!];
  if (encodings.length > 1 || !decoder)
    throw new AppError('unavailable', `The answer is encoded as ${encodings.join(', ').slice(0, 60)}, which cannot be read`);
  const plain = decoder();
  source.on('error', (error) => plain.destroy(error));
  return source.pipe(plain);
}
