/** Reads a form like a service. */
import type { HostRequest } from './host-stand-in.ts';

export type FormPart = { name: string; type: string; bytes: Buffer };

export async function formOf({ bytes, headers }: HostRequest): Promise<FormPart[]> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? { name, type: '', bytes: Buffer.from(value) }
        : { name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) },
    ),
  );
}
