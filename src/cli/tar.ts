/** Packs files into a tar archive: pax headers for the names, contents that are read from disk when they are sent. */

export type TarPart = Blob | Uint8Array<ArrayBuffer>;

const blockBytes = 512;

/** @param content exactly `sizeBytes` long */
export function tarParts({ name, sizeBytes }: { name: string; sizeBytes: number }, content: Blob): TarPart[] {
  const path = paxRecord('path', name);
  return [header('pax', path.length, 'x'), path, padding(path.length), header('file', sizeBytes, '0'), content, padding(sizeBytes)];
}

export const tarEnd: TarPart = new Uint8Array(2 * blockBytes);

function header(name: string, sizeBytes: number, type: string): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockBytes);
  const write = (text: string, at: number) => block.set(new TextEncoder().encode(text), at);
  write(name, 0);
  write('0000644\0', 100);
  write('0000000\0', 108);
  write('0000000\0', 116);
  write(`${octal(sizeBytes, 11)}\0`, 124);
  write(`${octal(0, 11)}\0`, 136);
  write('        ', 148);
  write(type, 156);
  write('ustar\u000000', 257);
  write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  );
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** `<length> key=value\n`, whose length counts itself. */
function paxRecord(key: string, value: string): Uint8Array<ArrayBuffer> {
  const rest = new TextEncoder().encode(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return new TextEncoder().encode(`${length} ${key}=${value}\n`);
}

function padding(sizeBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}
