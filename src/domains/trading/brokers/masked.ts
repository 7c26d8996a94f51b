/** Wraps a connection to a broker: a venue may repeat what it was sent, so the credentials are masked in its reasons and orders. */
import { SecretMask } from '../../../secret-mask.ts';
import type { BrokerConnection } from './port.ts';

/** A shorter value would occur inside ordinary words. */
const minSecretChars = 4;

export function maskedBroker(broker: BrokerConnection, secrets: readonly string[]): BrokerConnection {
  const mask = new SecretMask(secrets, minSecretChars);
  const whole = async <A extends object>(answer: Promise<A>): Promise<A> => mask.json(await answer);
  // What is known has only figures and symbols, up to many thousands.
  const reason = async <A extends { kind: string }>(answer: Promise<A>): Promise<A> => {
    const given = await answer;
    return 'reason' in given ? mask.json(given) : given;
  };
  const { venue, mode, afterUnknown, fillSource } = broker;
  return {
    venue,
    mode,
    afterUnknown,
    fillSource,
    bodyOf: (...given) => broker.bodyOf(...given),
    place: (...given) => whole(broker.place(...given)),
    lookUp: (...given) => whole(broker.lookUp(...given)),
    order: (...given) => whole(broker.order(...given)),
    cancel: (...given) => whole(broker.cancel(...given)),
    currentOrders: (...given) => whole(broker.currentOrders(...given)),
    fills: (...given) => reason(broker.fills(...given)),
    positions: (...given) => reason(broker.positions(...given)),
    account: (...given) => reason(broker.account(...given)),
    ...(broker.quote !== undefined && { quote: (...given) => reason(broker.quote!(...given)) }),
    ...(broker.bars !== undefined && { bars: (...given) => reason(broker.bars!(...given)) }),
    updates: (listener) =>
      broker.updates({
        changed: (order) => listener.changed(order),
        connected: () => listener.connected(),
        lost: (why) => listener.lost(mask.text(why)),
      }),
  };
}
