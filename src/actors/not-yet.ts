/** Thrown by a command that depends on something that has not arrived yet but certainly will. */
import { AppError } from '../errors.ts';

/**
 * The turn changes nothing. A message, outcome or timer is retried with growing pauses for ten minutes (`early-work.ts`), and only then becomes
 * a dead letter. A caller gets `unavailable`. What the command depends on must not be sent by the same sender in a later turn: that message
 * would wait behind this one.
 */
export class NotYet extends AppError {
  constructor(message: string) {
    super('unavailable', message, { retryAfterS: 1 });
    this.name = 'NotYet';
  }
}
