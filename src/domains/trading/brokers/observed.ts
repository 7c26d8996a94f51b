/** Wraps a connection to a broker and counts its calls by outcome. */
import type { CountBy } from '../../../counts.ts';
import type { BrokerConnection } from './port.ts';

/** @param calls of broker, call and outcome: the kind of the answer */
export function observedBroker(broker: BrokerConnection, calls: CountBy): BrokerConnection {
  const { venue, mode, afterUnknown, fillSource } = broker;
  const counted = async <A extends { kind: string }>(call: string, answer: Promise<A>): Promise<A> => {
    const known = await answer;
    calls.add([venue, call, known.kind]);
    return known;
  };
  return {
    venue,
    mode,
    afterUnknown,
    fillSource,
    bodyOf: (...given) => broker.bodyOf(...given),
    place: (...given) => counted('place', broker.place(...given)),
    lookUp: (...given) => counted('look_up', broker.lookUp(...given)),
    order: (...given) => counted('order', broker.order(...given)),
    cancel: (...given) => counted('cancel', broker.cancel(...given)),
    currentOrders: (...given) => counted('orders', broker.currentOrders(...given)),
    fills: (...given) => counted('fills', broker.fills(...given)),
    positions: (...given) => counted('positions', broker.positions(...given)),
    account: (...given) => counted('account', broker.account(...given)),
    ...(broker.quote !== undefined && { quote: (...given) => counted('quote', broker.quote!(...given)) }),
    ...(broker.bars !== undefined && { bars: (...given) => counted('bars', broker.bars!(...given)) }),
    updates: (listener) => broker.updates(listener),
  };
}
