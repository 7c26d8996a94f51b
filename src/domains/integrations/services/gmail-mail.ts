/** Mails in the form of Gmail's API: what a tool shows of one, and the message that is sent. */
import { createHash } from 'node:crypto';
import { pageText } from '../../tasks/contract.ts';

export type ShownMail = {
  id: string;
  thread_id: string;
  from: string;
  to: string;
  subject: string;
  date: string;
  labels: string[];
  snippet: string;
  body?: string;
  attachments?: string[];
};

type Part = {
  mimeType?: string;
  filename?: string;
  headers?: { name: string; value: string }[];
  body?: { data?: string; size?: number };
  parts?: Part[];
};
type Message = { id: string; threadId?: string; labelIds?: string[]; snippet?: string; internalDate?: string; payload?: Part };

/** A longer body is cut. */
const maxBodyChars = 100_000;
/** Deeper parts than any mail program makes are not read. */
const maxPartDepth = 20;

export function shownHeaders(message: Message): ShownMail {
  const header = (name: string) => headerOf(message.payload, name) ?? '';
  return {
    id: message.id,
    thread_id: message.threadId ?? '',
    from: header('From'),
    to: header('To'),
    subject: header('Subject'),
    date: receivedAt(message.internalDate) ?? header('Date'),
    labels: message.labelIds ?? [],
    snippet: message.snippet ?? '',
  };
}

export async function shownMail(message: Message): Promise<ShownMail> {
  const parts = message.payload === undefined ? [] : leaves(message.payload);
  const attachments = parts.map(({ filename }) => filename ?? '').filter((name) => name !== '');
  const texts = parts.filter(({ filename }) => !filename);
  const plain = texts.find(({ mimeType }) => mimeType === 'text/plain');
  const html = texts.find(({ mimeType }) => mimeType === 'text/html');
  const body =
    plain !== undefined
      ? textOf(plain)
      : html !== undefined
        ? (await pageText(textOf(html), 'https://mail.google.com/')).text
        : (message.snippet ?? '');
  return { ...shownHeaders(message), body: body.slice(0, maxBodyChars), ...(attachments.length > 0 && { attachments }) };
}

export function headerOf(part: Part | undefined, name: string): string | null {
  return part?.headers?.find((header) => header.name?.toLowerCase() === name.toLowerCase())?.value ?? null;
}

function leaves(part: Part, depth = 0): Part[] {
  if (part.parts === undefined || part.parts.length === 0) return [part];
  return depth < maxPartDepth ? part.parts.flatMap((inner) => leaves(inner, depth + 1)) : [];
}

/** The bytes are those of the part's own character set. */
function textOf(part: Part): string {
  const bytes = Buffer.from(part.body?.data ?? '', 'base64url');
  const charset = /charset="?([\w.:-]+)/i.exec(headerOf(part, 'Content-Type') ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

function receivedAt(internalDate: string | undefined): string | null {
  const ms = Number(internalDate);
  return internalDate !== undefined && Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}

export type Reply = { threadId: string; inReplyTo: string | null; references: string[] };

/** Of the last message in a thread: without these headers Gmail begins a thread of its own. */
export function replyTo(threadId: string, messages: Message[]): Reply {
  const last = messages.at(-1);
  const inReplyTo = headerOf(last?.payload, 'Message-ID');
  const earlier = headerOf(last?.payload, 'References')?.match(/<[^<>\s]+>/g) ?? [];
  return { threadId, inReplyTo, references: inReplyTo === null ? earlier : [...earlier, inReplyTo] };
}

/** The same for every try of a call, so that an earlier try's mail is found by it. Without angle brackets, as searches want it. */
export function messageIdOf(callId: string): string {
  return `${createHash('sha256').update(callId).digest('hex').slice(0, 32)}@troupe.mail`;
}

export type Written = { to: string; subject: string; body: string };

/** The message that the API takes: RFC 5322 in base64url. Gmail adds the sender. */
export async function composedMail({ to, subject, body }: Written, messageId: string, reply: Reply | null) {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    to,
    subject,
    text: body,
    messageId: `<${messageId}>`,
    ...(reply !== null && reply.inReplyTo !== null && { inReplyTo: reply.inReplyTo, references: reply.references }),
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const bytes = await composer.compile().build();
  return { raw: bytes.toString('base64url'), ...(reply !== null && { threadId: reply.threadId }) };
}
