/** Outgoing mail. Embedded: kept as .eml files in DATA_DIR/mail; with SMTP_URL: sent. */
import { isEmailAddress } from '../../email.ts';

export type Mail = {
  to: string;
  subject: string;
  text: string;
  /** Default: the service's own sender. */
  from?: string;
  /** Reply-To; default: the sender. */
  replyTo?: string;
};

export interface MailProvider {
  /**
   * Sends one mail. `messageId` is the same for every try, so that receivers can recognise a repeat. Returns where the mail is, as a text
   * for the sender (e.g. `kept as 01j….eml`). Throws `AppError('unavailable')` when it certainly was not sent; any other error means that
   * the outcome is unknown.
   */
  send(mail: Mail, messageId: string): Promise<{ detail: string }>;
}

const maxSubjectChars = 300;
const maxTextChars = 200_000;

/** Why this cannot be sent as a mail, as a text for its author; null if it can. Line breaks in header fields would start new headers. */
export function mailProblem(mail: Mail): string | null {
  if (/[,;\n]/.test(mail.to)) return 'A mail goes to exactly one address';
  if (!isEmailAddress(mail.to)) return 'The recipient is not an e-mail address such as ann@example.com';
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(mail.subject)) return 'The subject must be one line without control characters';
  if (mail.subject.length > maxSubjectChars) return `The subject is longer than ${maxSubjectChars} characters`;
  if (mail.text.length > maxTextChars) return `The text is longer than ${maxTextChars} characters`;
  if (mail.text.includes('\u0000')) return 'The text contains a null character';
  return null;
}

/** The domain of a sender such as `Troupe <troupe@example.com>`. */
export function domainOf(from: string): string {
  return from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
}
