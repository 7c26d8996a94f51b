/** Authorizes an amount on a card: asks the card, and waits until the wallet has been asked too. For requests and for agents. */
import { AppError } from '../../errors.ts';
import type { Database } from '../../storage/database.ts';
import { CardAuthorization, type CardAuthorizationRow } from '../../storage/entities/money.ts';
import type { ActorSystem, AskOptions } from '../runtime/actor-system.ts';
import { type Authorize, card } from './messages.ts';

export type AuthorizeParts = { actors: Pick<ActorSystem, 'ask'>; database: Pick<Database, 'load' | 'table'> };

/**
 * The decision, approved or declined. Asked again with the same command id (and authorization id) it is the same, and takes effect once,
 * whoever died in between. Rejects with `not_found` where there is no such card.
 */
export async function authorizeOnCard(
  { actors, database }: AuthorizeParts,
  cardId: string,
  input: Authorize,
  options?: AskOptions,
): Promise<CardAuthorizationRow> {
  const first = await actors.ask(card, cardId, 'authorize', input, options);
  if (first.kind === 'decided') return first.authorization;
  const decided = await actors.ask(card, cardId, 'outcome', { number: first.number }, { deadlineMs: options?.deadlineMs });
  if (decided !== null) return decided;
  const recorded = await findAuthorization(database, input.authorizationId);
  if (recorded === null) throw new AppError('internal', `Authorization ${input.authorizationId} was decided and is gone`);
  return recorded;
}

/** null: none that has been decided. */
export async function findAuthorization(database: AuthorizeParts['database'], id: string): Promise<CardAuthorizationRow | null> {
  const found = await database.load(database.table(CardAuthorization), [id]);
  return (found.get(id) as CardAuthorizationRow | undefined) ?? null;
}
