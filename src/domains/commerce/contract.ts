/** What other domains may use of commerce: the wallet. */
export { transferOf, wallet, walletIdOf } from './wallet/messages.ts';
