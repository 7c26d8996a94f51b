/** The only writer of the ledger: a transfer between a wallet and another book of the same account and mode, as two entries that sum to zero. */

import type { TurnContext } from '../../../actors/define-actor.ts';
import { type Book, LedgerEntry, type LedgerEntryRow } from './entity.ts';
import { type WalletContract, walletOwner } from './messages.ts';

export type Transfer = {
  transferId: string;
  /** The amount that the wallet gains; negative for a payment. Not zero. */
  amountMinor: number;
  against: Exclude<Book, 'wallet'>;
  reference: string;
  description: string;
};

/** Books are those of the account and mode of the wallet in this turn. The database refuses the turn if the transfer was booked before. */
export function bookTransfer({ amountMinor, against, ...about }: Transfer, ctx: TurnContext<WalletContract>): void {
  const owner = walletOwner(ctx.id);
  const enter = (book: Book, minor: number) => {
    const entry: LedgerEntryRow = {
      ...about,
      ...owner,
      side: minor < 0 ? 'debit' : 'credit',
      book,
      amountMinor: minor,
      createdAt: ctx.nowMs,
    };
    ctx.append(LedgerEntry, entry);
  };
  enter('wallet', amountMinor);
  enter(against, -amountMinor);
}
