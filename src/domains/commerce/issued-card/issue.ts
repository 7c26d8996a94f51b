/** Makes a card at an external issuer. Its number is read only when it is shown, and passes through no other code. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError } from '../../../errors.ts';
import { earlierCommand } from '../../../storage/idempotency-keys.ts';
import type { CardRequest, IssuedNow } from '../card/issue.ts';
import { card } from '../card/messages.ts';
import type { OutsideIssuer } from '../issuing/port.ts';
import { issuedCard } from './messages.ts';

/** `commandId`: the same id makes the same card again, with the same details. */
export async function issueAtIssuer(
  { actors, issuer }: { actors: Pick<ActorSystem, 'ask'>; issuer: OutsideIssuer },
  id: string,
  request: CardRequest,
  commandId: string | undefined,
): Promise<IssuedNow> {
  const { issuerCardId, last4, numberHash } = await actors.ask(
    issuedCard,
    id,
    'issue',
    request,
    commandId === undefined ? {} : { commandId: `${commandId}${earlierCommand}` },
  );
  const row = await actors.ask(card, id, 'create', { ...request, last4, numberHash, issuerCardId }, { commandId });
  const { number, cvv, expiry } = await issuer.details(issuerCardId);
  if (!number.endsWith(last4)) throw new AppError('unavailable', 'The issuer showed another card; try again');
  return { row, number, cvv, expiry };
}
