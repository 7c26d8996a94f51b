/** The account's money as the tools of an agent see it: the same orders and cards as everybody's, each tool call once. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';
import { derivedId, idPrefixes } from '../../../ids.ts';
import type { AccountMode } from '../../../mode.ts';
import { account, accountSettings, autoApproveSetting } from '../../accounts/contract.ts';
import type { Purse } from '../../tasks/tools/port.ts';
import { card } from '../card/messages.ts';
import { cardsNeedBusiness, mayUseCards } from '../policy.ts';
import { purchaseOrder } from '../purchase-order/messages.ts';

/** Whose call it is, in the mode of its task: what `callId` orders or pays, it orders or pays once. */
export type Spender = AccountMode & { callId: string };

export function purseOf(actors: ActorSystem, { accountId, mode, callId }: Spender): Purse {
  return {
    async order(asked) {
      const settings = await actors.query(accountSettings, accountId, 'get', null);
      const autoApproveThresholdMinor = settings[autoApproveSetting[mode]];
      const id = derivedId(idPrefixes.purchaseOrder, callId);
      const order = await insisting('The order', () =>
        actors.ask(purchaseOrder, id, 'create', { accountId, mode, ...asked, autoApproveThresholdMinor }),
      );
      return { id, status: order.status, paymentError: order.paymentError };
    },

    async charge({ cardId, amountMinor, merchant }) {
      const row = await actors.query(account, accountId, 'get', null);
      if (!mayUseCards(row)) throw new ToolError(`${cardsNeedBusiness}. Nothing was paid.`);
      const found = cardId.startsWith(idPrefixes.card) ? await actors.query(card, cardId, 'get', null) : null;
      if (found === null || found.accountId !== accountId || found.mode !== mode)
        throw new ToolError(`There is no card ${JSON.stringify(cardId)}. Nothing was paid.`);
      const authorizationId = derivedId(idPrefixes.authorization, callId);
      const asked = { authorizationId, amountMinor, merchant };
      const decided = await insisting('The charge', () => actors.ask(card, cardId, 'authorize', asked, { commandId: callId }));
      return { id: decided.id, declineReason: decided.declineReason };
    },
  };
}

/** Asks again, by the same id, where nobody knows how it went: an agent that is told of a failure may try another way, and would pay twice. */
async function insisting<T>(what: string, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'draining' || error.code === 'internal') throw error;
      if (errorCodes[error.code].retry === 'never') throw new ToolError(`${error.message}. Nothing was paid.`, { cause: error });
      if (attempt === maxRepeats)
        throw new ToolError(
          `${what} is uncertain: the service did not answer in time. Do not repeat it; say in your result that it is uncertain.`,
          {
            cause: error,
          },
        );
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, 500, 10_000)));
    }
  }
}

/** With 10 seconds for an ask that is below the tools' own limit. */
const maxRepeats = 3;
