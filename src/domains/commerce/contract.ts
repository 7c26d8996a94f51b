/** What other domains may use of commerce: the wallet. */
export { LedgerEntry, type LedgerEntryRow } from './wallet/entity.ts';
export { transferOf, wallet, walletIdOf } from './wallet/messages.ts';
