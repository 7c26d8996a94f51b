/** What other domains may import of commerce: the wallet. */

export { commerceIds } from './ids.ts';
export { LedgerEntry, type LedgerEntryRow } from './wallet/entity.ts';
export { transferOf, wallet, walletIdOf } from './wallet/messages.ts';
