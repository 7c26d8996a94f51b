/** send_email: one mail to one person, on behalf of the account. */
import Type from 'typebox';
import { AppError, ToolError } from '../../../errors.ts';
import { mailProblem } from '../../../providers/mail/port.ts';
import type { Tool } from './port.ts';

/** For checks of one field: arguments are refused before a person is asked. */
const valid = { to: 'ann@example.com', subject: 'Subject', text: 'Text' };

export const sendEmail: Tool = {
  name: 'send_email',
  agentTypes: 'all',
  description:
    'Sends a plain-text e-mail to one address and answers how it went. It reaches a real person: send only what the task asks for, once, and finished. ' +
    'The user may have to approve it first.',
  parameters: Type.Object({
    to: Type.Refine(
      Type.String({ minLength: 3, maxLength: 254, description: 'One address, such as ann@example.com' }),
      (to) => mailProblem({ ...valid, to: to.trim() }) === null,
      (to) => mailProblem({ ...valid, to: to.trim() })!,
    ),
    subject: Type.Refine(
      Type.String({ minLength: 1, maxLength: 300, description: 'One line' }),
      (subject) => mailProblem({ ...valid, subject: subject.trim() }) === null,
      (subject) => mailProblem({ ...valid, subject: subject.trim() })!,
    ),
    body: Type.String({ minLength: 1, maxLength: 200_000, description: 'Plain text; write it out completely' }),
  }),
  // No other operation sends mail, so there is no scope for it; a user approves it below autonomy 100.
  need: null,
  highConsequence: true,
  repeatable: false,
  timeoutMs: 90_000,
  async run({ to, subject, body }: { to: string; subject: string; body: string }, { mail }) {
    const message = { to: to.trim(), subject: subject.trim(), text: body };
    const problem = mailProblem(message);
    if (problem) throw new ToolError(`${problem}. Nothing was sent.`);
    try {
      const { detail } = await mail.send(message);
      return { to: message.to, subject: message.subject, status: detail };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'unavailable') throw new ToolError(`${error.message}. It was not sent.`, { cause: error });
      throw new ToolError(`${error.message}. Do not send it again by yourself; say in your result that its delivery is uncertain.`, {
        cause: error,
      });
    }
  },
};
