/** Messages that WhatsApp has sent: read from its notifications, and queried by connection. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isoTimestamp } from '../../../clock.ts';
import type { Database } from '../../../storage/database.ts';
import type { ReceivedMessage } from '../services/service.ts';

export type InboundMessage = { messageId: string; sender: string; text: string; sentAtMs: number };

const maxTextChars = 8_192;
/** Length of ids of messages and numbers. */
const idForm = /^[\x21-\x7e]{1,500}$/;
/** The digits of a number; of newer accounts also other ids. */
const senderForm = /^[\x20-\x7e]{0,64}$/;

/** Whether Meta has signed these bytes. @param header X-Hub-Signature-256 */
export function isSigned(body: Uint8Array, header: string, appSecret: string): boolean {
  const given = /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1];
  if (given === undefined) return false;
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', appSecret).update(body).digest());
}

/** The messages of a notification, by the number that received them; entries in another form are left out. */
export function messagesIn(notification: unknown, nowMs: number): Map<string, InboundMessage[]> {
  const found = new Map<string, InboundMessage[]>();
  for (const entry of listIn(notification, 'entry'))
    for (const change of listIn(entry, 'changes')) {
      const value = fieldIn(change, 'value');
      const number = fieldIn(fieldIn(value, 'metadata'), 'phone_number_id');
      if (typeof number !== 'string' || !idForm.test(number)) continue;
      const messages = listIn(value, 'messages').flatMap((message) => messageOf(message, nowMs) ?? []);
      if (messages.length > 0) found.set(number, [...(found.get(number) ?? []), ...messages]);
    }
  return found;
}

/** The connections that send from this number. */
export async function connectionsOf(database: Pick<Database, 'read'>, number: string): Promise<string[]> {
  const { rows } = await database.read({
    name: 'integrations_of_inbound',
    text: `select id from integration where service = 'whatsapp' and inbound_id = $1 and status <> 'disconnected' order by id limit 100`,
    values: [number],
  });
  return rows.map(({ id }) => id);
}

/** The messages that a connection has received, newest first. */
export async function receivedBy(
  database: Pick<Database, 'read'>,
  integrationId: string,
  { from, limit }: { from: string | null; limit: number },
): Promise<ReceivedMessage[]> {
  const { rows } = await database.read({
    name: 'received_messages',
    text: `select message_id, sender, text, sent_at from received_message where integration_id = $1 and ($2::text is null or sender = $2)
      order by sent_at desc, message_id desc limit $3`,
    values: [integrationId, from, Math.min(Math.max(limit, 1), 100)],
  });
  return rows.map(({ message_id: id, sender, text, sent_at: at }) => ({
    id,
    from: sender,
    text,
    at: isoTimestamp(new Date(at).getTime()),
  }));
}

function messageOf(message: unknown, nowMs: number): InboundMessage | null {
  const id = fieldIn(message, 'id');
  const sender = fieldIn(message, 'from');
  if (typeof id !== 'string' || !idForm.test(id) || typeof sender !== 'string' || !senderForm.test(sender)) return null;
  const seconds = Number(fieldIn(message, 'timestamp'));
  const sentAtMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, nowMs) : nowMs;
  return { messageId: id, sender, text: textOf(message).replaceAll('\0', '').slice(0, maxTextChars).toWellFormed(), sentAtMs };
}

/** The text that a person wrote or chose; other contents are named by their kind. */
function textOf(message: unknown): string {
  const type = String(fieldIn(message, 'type') ?? 'text').slice(0, 64);
  const content = fieldIn(message, type);
  const interactive = fieldIn(content, String(fieldIn(content, 'type')));
  const texts = [fieldIn(content, 'body'), fieldIn(content, 'text'), fieldIn(interactive, 'title'), fieldIn(content, 'caption')];
  const text = texts.find((each) => typeof each === 'string');
  return typeof text === 'string' ? text : `[${type}]`;
}

function listIn(value: unknown, name: string): unknown[] {
  const list = fieldIn(value, name);
  return Array.isArray(list) ? list : [];
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
