/** Makes a card: finds a number that no other card has; the card's actor stores only data that does not reveal the number. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { CardIssuer } from '../issuing/port.ts';
import type { CardRow } from './entity.ts';
import { card, type NewCard } from './messages.ts';

export type IssueParts = { actors: Pick<ActorSystem, 'ask'>; database: Database; issuer: CardIssuer };
export type CardRequest = Omit<NewCard, 'last4' | 'numberHash' | 'issuerCardId'>;

/** `number`, `cvv` and `expiry` (`MM/YY`) are shown once and not stored. */
export type IssuedNow = { row: CardRow; number: string; cvv: string; expiry: string };

/** There are many numbers: repeated collisions mean a defect. */
const maxAttempts = 8;

/** `commandId`: the same id makes the same card again, with the same details. */
export async function issueCard(
  { actors, database, issuer }: IssueParts,
  id: string,
  request: CardRequest,
  commandId: string | undefined,
): Promise<IssuedNow> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { number, cvv, last4, numberHash } = issuer.issue(id, attempt);
    const { rows } = await database.read({
      name: 'card_by_number',
      text: 'select id from card where number_hash = $1',
      values: [numberHash],
    });
    if (rows.length > 0 && rows[0].id !== id) continue;
    const row = await actors.ask(card, id, 'create', { ...request, last4, numberHash }, { commandId });
    if (row.numberHash === numberHash) return { row, number, cvv, expiry: issuer.expiry(row.createdAt) };
    throw new AppError('conflict', 'This card was issued with another secret key: its details cannot be shown again');
  }
  throw new AppError('unavailable', 'No free card number was found; try again');
}
