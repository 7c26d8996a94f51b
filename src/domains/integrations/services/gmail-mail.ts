/** Mails in the form of Gmail's API: the fields that a tool returns, and the message that is sent. */
import { createHash } from 'node:crypto';
import { pageText } from '../../tasks/contract.ts';
import { type Fields, fieldsOf, instantOf, textOf, textsOf } from './read-answer.ts';

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

/** A longer body is truncated. */
const maxBodyChars = 100_000;
/** Deeper parts than any mail program makes are not read. */
const maxPartDepth = 20;

export function shownHeaders(message: Fields): ShownMail {
  const header = (name: string) => headerOf(message.payload, name) ?? '';
  return {
    id: textOf(message.id) ?? '',
    thread_id: textOf(message.threadId) ?? '',
    from: header('From'),
    to: header('To'),
    subject: header('Subject'),
    date: (message.internalDate === undefined ? null : instantOf(Number(message.internalDate))) ?? header('Date'),
    labels: textsOf(message.labelIds),
    snippet: textOf(message.snippet) ?? '',
  };
}

export async function shownMail(message: Fields): Promise<ShownMail> {
  const parts = leaves(fieldsOf(message.payload), 0);
  const attachments = parts.map(({ filename }) => textOf(filename) ?? '').filter((name) => name !== '');
  const texts = parts.filter(({ filename }) => !filename);
  const plain = texts.find(({ mimeType }) => mimeType === 'text/plain');
  const html = texts.find(({ mimeType }) => mimeType === 'text/html');
  const headers = shownHeaders(message);
  const body = plain !== undefined ? contentOf(plain) : html !== undefined ? await readable(contentOf(html)) : headers.snippet;
  return { ...headers, body: body.slice(0, maxBodyChars), ...(attachments.length > 0 && { attachments }) };
}

function headerOf(part: unknown, name: string): string | null {
  const { headers } = fieldsOf(part);
  const all = Array.isArray(headers) ? headers.map(fieldsOf) : [];
  const found = all.find((header) => textOf(header.name)?.toLowerCase() === name.toLowerCase());
  return textOf(found?.value) ?? null;
}

function leaves(part: Fields, depth: number): Fields[] {
  const inner = Array.isArray(part.parts) ? part.parts.map(fieldsOf) : [];
  if (inner.length === 0) return [part];
  return depth < maxPartDepth ? inner.flatMap((one) => leaves(one, depth + 1)) : [];
}

/** The bytes are those of the part's own character set. */
function contentOf(part: Fields): string {
  const bytes = Buffer.from(textOf(fieldsOf(part.body).data) ?? '', 'base64url');
  const charset = /charset="?([\w.:-]+)/i.exec(headerOf(part, 'Content-Type') ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

async function readable(html: string): Promise<string> {
  return (await pageText(html, 'https://mail.google.com/')).text;
}

export type Reply = { threadId: string; inReplyTo: string | null; references: string[] };

/** Of the last message in a thread: without these headers Gmail begins a thread of its own. */
export function replyTo(threadId: string, messages: Fields[]): Reply {
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

/** The message in the API's form: RFC 5322 in base64url. Gmail adds the sender. */
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
