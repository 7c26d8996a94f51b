/** Reads a body as it was sent: bounded in bytes and time. */
import { AppError } from '../../errors.ts';
import type { HttpRequest } from './message.ts';

/** A sender that needs longer is cut off. */
const withinMs = 30_000;

/** The very bytes; none where there is no body. Throws `payload_too_large`, and `bad_request` where the sender goes away. */
export async function readBytes({ body }: HttpRequest, maxBytes: number): Promise<Buffer> {
  if (body === null || body.declaredBytes === 0) return Buffer.alloc(0);
  const tooLarge = () => new AppError('payload_too_large', `The body may have at most ${maxBytes} bytes`);
  if (body.declaredBytes !== null && body.declaredBytes > maxBytes) throw tooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    body.read(
      {
        data(chunk, last) {
          bytes += chunk.length;
          if (bytes > maxBytes) return reject(tooLarge());
          chunks.push(Buffer.from(chunk));
          if (last) resolve(Buffer.concat(chunks));
        },
        aborted: () => reject(new AppError('bad_request', 'The request ended before its body')),
      },
      withinMs,
    );
  });
}
