/** Limits of the transport: every wait and every buffer is bounded. */

import type { UnauthenticatedBounds } from './unauthenticated-connections.ts';

export type Bounds = UnauthenticatedBounds & {
  /** An open stream without incoming data for this long is closed as `silent`. Pings are sent four times as often. */
  receiveTimeoutMs: number;
  /** A dial without a result after this time is `silent`. */
  dialWithinMs: number;
  /** The first redial is immediate, the second after about this long, each further one after twice the pause before. */
  redialAfterMs: number;
  maxRedialPauseMs: number;
  /** Bytes of batches that may be in flight to a peer that has not processed them yet. */
  windowBytes: number;
  /** Characters of frames that wait for credit, for each peer. Beyond: asks get `overloaded`, notifications are dropped. */
  queueChars: number;
  /** Asks of this node that one peer has not answered yet. Beyond: `overloaded`. */
  maxAsks: number;
  /** An ask, its reply or a notification, as JSON. Beyond: `payload_too_large`. */
  maxPayloadBytes: number;
  /** Streams that are not authenticated yet. */
  maxHandshakes: number;
  maxHandshakesPerAddress: number;
};

export const defaultBounds: Bounds = {
  receiveTimeoutMs: 1_000,
  dialWithinMs: 2_000,
  redialAfterMs: 100,
  maxRedialPauseMs: 2_000,
  windowBytes: 4 * 1024 * 1024,
  queueChars: 8 * 1024 * 1024,
  maxAsks: 32_768,
  maxPayloadBytes: 16 * 1024 * 1024,
  maxHandshakes: 64,
  maxHandshakesPerAddress: 32,
  maxUnauthenticated: 128,
  maxUnauthenticatedPerAddress: 32,
  unauthenticatedBurst: 200,
  unauthenticatedPerSecond: 10,
};

/** Whether a text takes at most so many bytes in UTF-8. The text is measured only if its length does not decide it. */
export function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes);
}
