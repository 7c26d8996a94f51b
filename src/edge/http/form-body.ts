/** Reads a posted HTML form (application/x-www-form-urlencoded): limited in bytes and time; refuses text that cannot be stored. */
import { AppError } from '../../errors.ts';
import { isStorable } from '../../storable-text.ts';
import type { HttpRequest } from './message.ts';

const maxBytes = 32 * 1024;

/** The part of a handler's context that is used; its route has `readsBody`. */
type ReadsBody = { readonly request: HttpRequest; readBytes(maxBytes: number): Promise<Buffer> };

/** The fields; none without a body. Throws `unsupported_media_type`, `payload_too_large`, or `bad_request` for text that a form cannot hold. */
export async function readForm({ request, readBytes }: ReadsBody): Promise<URLSearchParams> {
  const { body } = request;
  if (body === null || body.declaredBytes === 0) return new URLSearchParams();
  const [type = ''] = request.header('content-type').toLowerCase().split(';');
  if (type.trim() !== 'application/x-www-form-urlencoded')
    throw new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded');
  const fields = new URLSearchParams((await readBytes(maxBytes)).toString('utf8'));
  if (![...fields].flat().every(isStorable)) throw new AppError('bad_request', 'The form holds text that cannot be stored');
  return fields;
}
