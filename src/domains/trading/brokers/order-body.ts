/**
 * The properties of an order at a venue that need no open connection: its exact body, and what the venue allows after a post with an unknown
 * outcome.
 */
import type { AfterUnknown } from '../orders/outbound.ts';
import type { OrderTerms } from '../orders/terms.ts';
import { bodyOf as alpacaBody } from './alpaca.ts';
import { bodyOf as coinbaseBody } from './coinbase.ts';
import type { VenueName } from './port.ts';
import { bodyOf as tradierBody } from './tradier.ts';

/** As `BrokerConnection.bodyOf`. */
export function orderBody(venue: VenueName, ourId: string, terms: OrderTerms, onShort: boolean): string {
  switch (venue) {
    case 'alpaca':
      return alpacaBody(ourId, terms);
    case 'tradier':
      return tradierBody(ourId, terms, onShort);
    case 'coinbase':
      return coinbaseBody(ourId, terms);
  }
}

/** As `BrokerConnection.afterUnknown`. */
export const afterUnknownOf: Readonly<Record<VenueName, AfterUnknown>> = {
  alpaca: 'look_up_then_repeat',
  tradier: 'look_up',
  coinbase: 'repeat',
};
