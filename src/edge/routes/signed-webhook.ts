/** The common part of providers' webhook routes: only a valid signature over the exact bytes is trusted. */
import type { HttpRequest } from '../http/message.ts';

/** Several times the size of the largest event. */
const maxBytes = 512 * 1024;

export const signedWebhook = {
  method: 'POST',
  scope: null,
  extension: true,
  idempotent: false,
  readsBody: true,
  // A provider sends from few addresses, as many requests as there are payments.
  limited: false,
  errors: [400, 413],
} as const;

/** The result of `read` for the body and its signature. Throws what `read` throws for an invalid signature, and `payload_too_large`. */
export async function readSigned<T>(
  { request, readBytes }: { readonly request: HttpRequest; readBytes(maxBytes: number): Promise<Buffer> },
  read: (body: Uint8Array, signature: string) => Promise<T>,
): Promise<T> {
  return read(await readBytes(maxBytes), request.header('stripe-signature'));
}
