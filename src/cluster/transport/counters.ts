/** Counters of a transport since it was created, for metrics. */

export type TransportCounters = {
  /** Peers with an open stream. */
  peersUp: number;
  /** Batches, frames in them and their bytes, without gRPC's overhead. */
  batchesSent: number;
  batchesReceived: number;
  framesSent: number;
  framesReceived: number;
  bytesSent: number;
  bytesReceived: number;
  asksSent: number;
  asksReceived: number;
  /** Asks of this node that wait for an answer. */
  asksWaiting: number;
  /** Asks of others that are being answered. */
  asksServed: number;
  /** Asks and notifications that were refused because a queue was full. */
  refusedQueueFull: number;
  /** How often a queue had to wait for credit. */
  creditStalls: number;
};

export function newCounters(): TransportCounters {
  return {
    peersUp: 0,
    batchesSent: 0,
    batchesReceived: 0,
    framesSent: 0,
    framesReceived: 0,
    bytesSent: 0,
    bytesReceived: 0,
    asksSent: 0,
    asksReceived: 0,
    asksWaiting: 0,
    asksServed: 0,
    refusedQueueFull: 0,
    creditStalls: 0,
  };
}
