/** A mail in the form of RFC 5322, as it is stored or sent. */
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { domainOf, type Mail, mailProblem } from './port.ts';

export type MailSource = {
  /** The sender, e.g. `agent@example.com`. */
  from: string;
  clock: Clock;
};

/** The complete message with CRLF line ends. Throws `AppError('unavailable')` when it cannot be sent as a mail. */
export async function composeMail(mail: Mail, messageId: string, { from: own, clock }: MailSource): Promise<Buffer> {
  const { from = own } = mail;
  const problem = mailProblem(mail);
  if (problem) throw new AppError('unavailable', problem);
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    from,
    to: mail.to,
    replyTo: mail.replyTo,
    subject: mail.subject,
    text: mail.text,
    messageId: `<${plainId(messageId)}@${domainOf(from)}>`,
    date: new Date(clock.nowMs()),
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** The id in characters that are valid in a header and in a file name. */
export function plainId(messageId: string): string {
  return (
    messageId
      .replace(/[^\w.-]/g, '-')
      .replace(/^\.+/, '')
      .slice(0, 120) || 'mail'
  );
}
