/** What each broker accepts, as data: checked before the risk checks, any approval and any request. */
import type { AssetClass } from '../market/symbol.ts';
import type { OrderType, TimeInForce } from '../orders/terms.ts';
import type { VenueName } from './port.ts';

export type BrokerName = VenueName | 'embedded';
export const brokerNames = ['embedded', 'alpaca', 'tradier', 'coinbase'] as const satisfies readonly BrokerName[];

export type ClassCapabilities = {
  /** How long each order type may be valid; an absent type is not accepted. */
  orderTypes: Partial<Record<OrderType, readonly TimeInForce[]>>;
  /** The order types and validities that accept fractions. */
  fractional: Partial<Record<OrderType, readonly TimeInForce[]>>;
  /** The smallest price step; a symbol's quote has its own. */
  tick: number;
  lot: number;
  minQuantity: number;
  sessions: 'regular' | 'always';
  /** `native`: the broker links the legs. `held`: this service holds them until the parent fills. */
  brackets: 'native' | 'held' | 'none';
  shorts: boolean;
  /** One order may close a position and open the opposite one. */
  flips: boolean;
};

export type BrokerCapabilities = { assetClasses: Partial<Record<AssetClass, ClassCapabilities>> };

const dayGtc = ['day', 'gtc'] as const;
const dayGtcIoc = ['day', 'gtc', 'ioc'] as const;
const gtcIoc = ['gtc', 'ioc'] as const;
const fourTypesWithIoc = { market: dayGtcIoc, limit: dayGtcIoc, stop: dayGtc, stop_limit: dayGtc } as const;
const equity = { tick: 0.01, sessions: 'regular', brackets: 'held', shorts: true, flips: false } as const;
const crypto = { tick: 0.00000001, sessions: 'always', brackets: 'held', shorts: false, flips: false } as const;
const fractions = { lot: 0.000000001, minQuantity: 0.000000001 } as const;

export const capabilitiesOf: Readonly<Record<BrokerName, BrokerCapabilities>> = {
  embedded: {
    assetClasses: {
      equity: { ...equity, ...fractions, flips: true, orderTypes: fourTypesWithIoc, fractional: fourTypesWithIoc },
      crypto: {
        ...crypto,
        ...fractions,
        orderTypes: { market: gtcIoc, limit: gtcIoc, stop: gtcIoc, stop_limit: gtcIoc },
        fractional: { market: gtcIoc, limit: gtcIoc, stop: gtcIoc, stop_limit: gtcIoc },
      },
    },
  },
  alpaca: {
    assetClasses: {
      equity: { ...equity, ...fractions, orderTypes: fourTypesWithIoc, fractional: { market: ['day'] } },
      crypto: {
        ...crypto,
        ...fractions,
        orderTypes: { market: gtcIoc, limit: gtcIoc, stop_limit: gtcIoc },
        fractional: { market: gtcIoc, limit: gtcIoc, stop_limit: gtcIoc },
      },
    },
  },
  tradier: {
    assetClasses: {
      equity: {
        ...equity,
        lot: 1,
        minQuantity: 1,
        orderTypes: { market: dayGtc, limit: dayGtc, stop: dayGtc, stop_limit: dayGtc },
        fractional: {},
      },
    },
  },
  coinbase: {
    assetClasses: {
      crypto: {
        ...crypto,
        lot: 0.00000001,
        minQuantity: 0.00000001,
        orderTypes: { market: gtcIoc, limit: gtcIoc, stop_limit: ['gtc'] },
        fractional: { market: gtcIoc, limit: gtcIoc, stop_limit: ['gtc'] },
      },
    },
  },
};

/** The table as callers see it. An asset class that the broker does not trade is absent. */
export function shownCapabilities(brokerName: BrokerName, mode: string) {
  const classes = Object.entries(capabilitiesOf[brokerName].assetClasses).map(([assetClass, { orderTypes, minQuantity, ...rest }]) => {
    const { fractional, ...others } = rest;
    return [assetClass, { order_types: orderTypes, fractional: Object.keys(fractional), min_quantity: minQuantity, ...others }];
  });
  return { broker_name: brokerName, mode, asset_classes: Object.fromEntries(classes) };
}
