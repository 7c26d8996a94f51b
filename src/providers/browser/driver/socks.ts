/** The two messages of a SOCKS5 client (RFC 1928) and the answers to them. Pure functions of bytes. */

export type Parsed<T> = { kind: 'incomplete' } | { kind: 'bad' } | { kind: 'read'; value: T; bytes: number };
export type Target = { host: string; port: number };

const version = 5;
const noAuthentication = 0;
const connectCommand = 1;
const addressBytes: Record<number, number> = { 1: 4, 4: 16 };
const nameType = 3;

/** The greeting; its client must offer to go without authentication. */
export function readGreeting(data: Buffer): Parsed<null> {
  if (data.length > 0 && data[0] !== version) return { kind: 'bad' };
  if (data.length < 2 || data.length < 2 + data[1]!) return { kind: 'incomplete' };
  const bytes = 2 + data[1]!;
  return data.subarray(2, bytes).includes(noAuthentication) ? { kind: 'read', value: null, bytes } : { kind: 'bad' };
}

export const greetingAnswer = Buffer.from([version, noAuthentication]);

export function readRequest(data: Buffer): Parsed<Target> {
  if ((data.length > 0 && data[0] !== version) || (data.length > 1 && data[1] !== connectCommand)) return { kind: 'bad' };
  if (data.length < 5) return { kind: 'incomplete' };
  const type = data[3]!;
  const start = type === nameType ? 5 : 4;
  const length = type === nameType ? data[4]! : addressBytes[type];
  if (length === undefined || length === 0) return { kind: 'bad' };
  const end = start + length;
  if (data.length < end + 2) return { kind: 'incomplete' };
  return { kind: 'read', value: { host: hostOf(type, data.subarray(start, end)), port: data.readUInt16BE(end) }, bytes: end + 2 };
}

const replyCodes = { connected: 0, refused: 2, unreachable: 4 } as const;

export function requestAnswer(outcome: keyof typeof replyCodes): Buffer {
  return Buffer.from([version, replyCodes[outcome], 0, 1, 0, 0, 0, 0, 0, 0]);
}

function hostOf(type: number, bytes: Buffer): string {
  if (type === nameType) return bytes.toString('latin1');
  if (type === 1) return bytes.join('.');
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16)).join(':');
}
