/**
 * Mails that agents send to people on behalf of an account: from a separate sender, different from that of the service's own mails; replies
 * go to the account's user; and their number per day is limited.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Authority } from '../../../authority.ts';
import { ToolError } from '../../../errors.ts';
import { mailsPerDay } from '../../../plans.ts';
import type { MailProvider } from '../../../providers/mail/port.ts';
import type { Database } from '../../../storage/database.ts';
import { account, planOf } from '../../accounts/contract.ts';
import { ownerOf, throttle, throttleId } from '../../identity/contract.ts';
import type { AgentMail } from '../tools/port.ts';

export type AgentMailParts = {
  actors: ActorSystem;
  database: Pick<Database, 'read'>;
  mail: MailProvider;
  /** The sender of agents' mails. */
  from: string;
  /** Mails are really sent: the account's address must be verified, and mails are counted. Otherwise they are only stored. */
  reachesPeople: boolean;
};

const dayMs = 24 * 3_600_000;

/** @param callId the same for every try of one tool call */
export function agentMail(
  parts: AgentMailParts,
  { accountId, mode }: { accountId: string; mode: Authority['mode'] },
  callId: string,
): AgentMail {
  const { actors, mail, from, reachesPeople } = parts;
  return {
    async send({ to, subject, text }) {
      const owner = await ownerOf(parts, accountId);
      if (owner === null) throw new ToolError('The account has no user on whose behalf a mail could be sent. Nothing was sent.');
      if (reachesPeople && mode === 'test') return { detail: 'not sent: the task was made by a test key' };
      if (reachesPeople && !owner.emailVerified) throw new ToolError(unverified);
      if (reachesPeople) await count();
      return mail.send({ to, subject, text: `${text.trimEnd()}${footer(owner.email)}`, from, replyTo: owner.email }, callId);
    },
  };

  async function count(): Promise<void> {
    const row = await actors.query(account, accountId, 'get', null);
    const limit = mailsPerDay[row === null ? 'free' : planOf(row)];
    const rule = { limit, windowMs: dayMs };
    const waitS = await actors.ask(throttle, throttleId('mails of account', accountId), 'judge', { rule, failed: true });
    if (waitS === 0) return;
    const hours = Math.ceil(waitS / 3_600);
    throw new ToolError(
      `The account's plan allows its agents ${limit} mails in 24 hours, and these are used up; the next may be sent in ${hours} h. Nothing was sent.`,
    );
  }
}

const unverified =
  "The account's own e-mail address is not verified, so its agents may not send mail to people. Its user has to follow the link in the mail that was sent at registration, or ask for another with POST /v1/auth/verify-email/resend. Nothing was sent.";

function footer(email: string): string {
  return `\n\n-- \nAn AI agent wrote this on behalf of ${email}. Answers go to that address.\n`;
}
