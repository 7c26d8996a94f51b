/** Opens the adapter of a venue. Decrypted credentials stay in the adapter; nothing logs them. */
import type { Clock } from '../../../clock.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { openAlpaca } from './alpaca.ts';
import { openCoinbase } from './coinbase.ts';
import type { BrokerConnection, BrokerMode } from './port.ts';
import { openTradier } from './tradier.ts';

export type VenueCredentials =
  | { venue: 'alpaca'; apiKey: string; apiSecret: string }
  | { venue: 'tradier'; accessToken: string; accountId: string }
  | { venue: 'coinbase'; apiKey: string; apiSecret: string };

/** Replace the venues' own addresses, for both modes (`*_API_URL`). */
export type VenueAddresses = { alpacaApiUrl: string | null; tradierApiUrl: string | null; coinbaseApiUrl: string | null };

export type BrokerParts = { outbound: Outbound; clock: Clock; addresses: VenueAddresses; timeoutMs: number };

/** @param account whose connections to the venue it uses. Coinbase is live alone: its paper orders are filled by the embedded paper broker. */
export function openBroker(credentials: VenueCredentials, mode: BrokerMode, account: string, parts: BrokerParts): BrokerConnection {
  const { outbound, clock, addresses, timeoutMs } = parts;
  const shared = { outbound, clock, timeoutMs, account };
  switch (credentials.venue) {
    case 'alpaca':
      return openAlpaca({ ...shared, mode, credentials, apiUrl: baseOf(addresses.alpacaApiUrl) });
    case 'tradier':
      return openTradier({ ...shared, mode, credentials, apiUrl: baseOf(addresses.tradierApiUrl) });
    case 'coinbase':
      return openCoinbase({ ...shared, credentials, apiUrl: baseOf(addresses.coinbaseApiUrl) });
  }
}

function baseOf(url: string | null): string | null {
  return url === null ? null : url.replace(/\/$/, '');
}
