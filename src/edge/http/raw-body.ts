/** Reads a body as it was sent: bounded in bytes and time. */
import { AppError } from '../../errors.ts';
import type { HeldBody } from './body-budget.ts';
import type { HttpRequest } from './message.ts';

/** A slower sender is cut off. */
const withinMs = 30_000;

/**
 * The exact bytes; empty where there is no body. Throws `payload_too_large`, `bad_request` where the sender disconnects, and what `held`
 * throws. Bytes after a refusal are not kept.
 */
export async function readBytes({ body }: HttpRequest, maxBytes: number, held: HeldBody): Promise<Buffer> {
  if (body === null || body.declaredBytes === 0) return Buffer.alloc(0);
  const tooLarge = () => new AppError('payload_too_large', `The body may have at most ${maxBytes} bytes`);
  if (body.declaredBytes !== null && body.declaredBytes > maxBytes) throw tooLarge();
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let refused = false;
    const refuse = (error: unknown) => {
      refused = true;
      chunks = [];
      reject(error);
    };
    body.read(
      {
        data(chunk, last) {
          if (refused) return;
          bytes += chunk.length;
          if (bytes > maxBytes) return refuse(tooLarge());
          try {
            held.add(chunk.length);
          } catch (error) {
            return refuse(error);
          }
          chunks.push(Buffer.from(chunk));
          if (last) resolve(Buffer.concat(chunks));
        },
        aborted: () => refuse(new AppError('bad_request', 'The request ended before its body')),
      },
      withinMs,
    );
  });
}
