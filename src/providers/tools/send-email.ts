/** send_email: one mail to one person, through whatever mail provider this service has. */
import Type from 'typebox';
import { AppError } from '../../errors.ts';
import { mailProblem } from '../mail/compose-mail.ts';
import type { Mail, MailProvider } from '../mail/port.ts';
import { type Tool, ToolError } from './port.ts';

export function createSendEmail(mail: MailProvider): Tool {
  return {
    name: 'send_email',
    description:
      'Sends a plain-text e-mail to one address and answers how it went. It reaches a real person: send only what the task asks for, once, and finished. ' +
      'The user may have to approve it first.',
    parameters: Type.Object({
      to: Type.String({ minLength: 3, maxLength: 254, description: 'One address, such as ann@example.com' }),
      subject: Type.String({ minLength: 1, maxLength: 300, description: 'One line' }),
      body: Type.String({ minLength: 1, maxLength: 200_000, description: 'Plain text; write it out completely' }),
    }),
    highConsequence: true,
    repeatable: false,
    timeoutMs: 90_000,
    async run({ to, subject, body }: { to: string; subject: string; body: string }, { callId }) {
      const message: Mail = { to: to.trim(), subject: subject.trim(), text: body };
      const problem = mailProblem(message);
      if (problem) throw new ToolError(`${problem}. Nothing was sent.`);
      try {
        const { detail } = await mail.send(message, callId);
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
}
