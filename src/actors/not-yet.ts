/** What a command throws when it cannot be taken before something else, which is surely on its way. */
import { AppError } from '../errors.ts';

/**
 * The turn changes nothing. A message, outcome or timer stays and is tried again with growing pauses for ten minutes (`early-work.ts`), and only
 * then becomes a dead letter. Who asked is told `unavailable`. What it waits for must not come from the same sender in a later turn: that
 * waits behind it.
 */
export class NotYet extends AppError {
  constructor(message: string) {
    super('unavailable', message, { retryAfterS: 1 });
    this.name = 'NotYet';
  }
}
