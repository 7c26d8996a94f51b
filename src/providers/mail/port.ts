/** Outgoing mail. Embedded: kept as .eml files in DATA_DIR/mail; with SMTP_URL: sent. */

export type Mail = {
  to: string;
  subject: string;
  text: string;
  /** Left out: the service's own sender. */
  from?: string;
  /** Who reads the answers; left out, the sender. */
  replyTo?: string;
};

export interface MailProvider {
  /**
   * Hands one mail over. `messageId` is the same for every try, so that receivers can recognise a repeat.
   * Returns where it went, in words for the sender (e.g. `kept as 01j….eml`). Throws `AppError('unavailable')` when it surely was not sent;
   * any other error means that nobody knows.
   */
  send(mail: Mail, messageId: string): Promise<{ detail: string }>;
}
