/** What webhook routes of providers have in common: only a valid signature over the exact bytes is trusted. */
import type { HttpRequest } from '../http/message.ts';

/** Several times what the largest event has. */
const maxBytes = 512 * 1024;

export const signedWebhook = {
  method: 'POST',
  scope: null,
  extension: true,
  idempotent: false,
  readsBody: true,
  // Its deliveries come from few addresses, as many as there are payments.
  limited: false,
  errors: [400, 413],
} as const;

/** What `read` makes of the body and its signature. Throws what it throws for what was not signed; `payload_too_large`. */
export async function readSigned<T>(
  { request, readBytes }: { readonly request: HttpRequest; readBytes(maxBytes: number): Promise<Buffer> },
  read: (body: Uint8Array, signature: string) => Promise<T>,
): Promise<T> {
  return read(await readBytes(maxBytes), request.header('stripe-signature'));
}
