/** What other domains may use of commerce: the wallet. */

export { commerceIds } from './ids.ts';
export { LedgerEntry, type LedgerEntryRow } from './wallet/entity.ts';
export { transferOf, wallet, walletIdOf } from './wallet/messages.ts';
