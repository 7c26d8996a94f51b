/**
 * Mail by SMTP. The outcome must be known: until the server has accepted the DATA command, and whenever it refuses, the mail certainly was
 * not sent; if content is sent and no answer arrives, the outcome is unknown. So the content is a stream that records its first read, which
 * happens only after the server has accepted DATA.
 */
import { Readable } from 'node:stream';
import { mailboxOf } from '../../email.ts';
import { AppError } from '../../errors.ts';
import { composeMail, type MailSource } from './compose-mail.ts';
import type { MailProvider } from './port.ts';

const maxConnections = 3;
const maxWaiting = 100;
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 30_000 };

/**
 * @param url SMTP_URL: `smtp://user:password@host:587` (STARTTLS when offered, `?requireTLS=true` insists) or `smtps://…:465`. Throws for
 *   any other address; the message does not repeat it, because it contains a password.
 */
export function createSmtpMail({ url, ...source }: MailSource & { url: string }): MailProvider {
  const server = parseServer(url);
  const places = createPlaces();
  return {
    async send(mail, messageId) {
      const message = await composeMail(mail, messageId, source);
      await places.enter();
      try {
        await deliver(server, { from: bareAddress(mail.from ?? source.from), to: mailboxOf(mail.to) }, message);
      } finally {
        places.leave();
      }
      return { detail: `sent to ${mail.to}` };
    },
  };
}

type Server = { options: object; credentials: { user: string; pass: string } | null };

function parseServer(text: string): Server {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || !url.hostname) {
    throw new Error('SMTP_URL must look like smtp://user:password@host:587 or smtps://user:password@host:465');
  }
  const secure = url.protocol === 'smtps:';
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: url.searchParams.get('requireTLS') === 'true',
    ...timeouts,
  };
  return { options, credentials: url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : null };
}

/** Sends one mail over one connection. Throws `unavailable` if it certainly was not sent, otherwise `outcome_unknown`. */
async function deliver({ options, credentials }: Server, envelope: { from: string; to: string }, message: Buffer): Promise<void> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const connection = new SMTPConnection(options);
  let contentFlows = false;
  const content = new Readable({
    read() {
      contentFlows = true;
      this.push(message);
      this.push(null);
    },
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const step = (next: () => void) => (error?: Error | null) => (error ? reject(error) : next());
      connection.once('error', reject);
      // A second error of the same connection needs no handling.
      connection.on('error', () => {});
      connection.once('end', () => reject(new Error('the server closed the connection')));
      const send = () => connection.send({ ...envelope, size: message.length }, content, step(resolve));
      connection.connect(step(() => (credentials ? connection.login({ credentials }, step(send)) : send())));
    });
  } catch (error) {
    throw described(error, contentFlows);
  } finally {
    connection.close();
    content.destroy();
  }
}

function described(error: unknown, contentFlows: boolean): AppError {
  const { responseCode, code } = error as { responseCode?: number; code?: string };
  if (code === 'EAUTH') return new AppError('unavailable', 'The mail server refused our credentials', { cause: error });
  // The server's text may contain anything; its status code is enough.
  if (responseCode && responseCode >= 400)
    return new AppError('unavailable', `The mail server refused the mail (${responseCode})`, { cause: error });
  if (!contentFlows)
    return new AppError('unavailable', 'The mail server could not be reached or broke off before it took the mail', { cause: error });
  return new AppError('outcome_unknown', 'The mail server broke off while it took the mail; it is unknown whether it was sent', {
    cause: error,
  });
}

function bareAddress(from: string): string {
  const text = from.trimEnd();
  const start = text.lastIndexOf('<');
  return start !== -1 && text.endsWith('>') && text.length > start + 2 ? text.slice(start + 1, -1) : from;
}

/** At most `maxConnections` at once; others wait in order. */
function createPlaces() {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    async enter(): Promise<void> {
      if (taken < maxConnections) return void taken++;
      if (waiting.length >= maxWaiting)
        throw new AppError('unavailable', 'Too many mails are waiting for the mail server; this one was not sent');
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave(): void {
      const next = waiting.shift();
      if (next) next();
      else taken--;
    },
  };
}
