/** One reader of an account's events: its position and what is sent to it. */
import { frameOf, frameText, renamed, type StreamEvent } from './event-frame.ts';
import type { Filter } from './filter.ts';

/** What the hub needs of a connection. */
export interface Reader {
  send(frame: string | Uint8Array): 'sent' | 'buffered' | 'dropped';
  bufferedBytes(): number;
  cork(work: () => void): void;
  /** Ends the connection: it reads too slowly. */
  tooSlow(): void;
  /** Ends the connection: events it was sent may be missing in the database now. */
  mustRestart(): void;
}

export type Subscriber = {
  readonly reader: Reader;
  readonly accountId: string;
  filter: Filter | null;
  mode: 'replaying' | 'live' | 'ended';
  /** The newest event that was sent or filtered out. */
  position: number;
  /** The newest event that was sent. */
  sent: number;
  /** Wakes a replay that waits for its reader. */
  onDrain: (() => void) | null;
  /** Called once, between the last replayed and the first live event. */
  onLive: (() => void) | null;
};

/** A replay waits while more bytes than this are unsent. */
const replayAheadBytes = 256 * 1024;

export function newSubscriber(reader: Reader, accountId: string): Subscriber {
  return { reader, accountId, filter: null, mode: 'replaying', position: 0, sent: 0, onDrain: null, onLive: null };
}

/** Sends new events to a live subscriber, up to the first gap. Ends a reader that is too slow. */
export function sendLive(subscriber: Subscriber, events: readonly StreamEvent[]): void {
  if (events.length === 0 || events[0]!.seq > subscriber.position + 1) return;
  if (events.length === 1) sendEach(subscriber, events);
  else subscriber.reader.cork(() => sendEach(subscriber, events));
}

/** Sends the next events to a subscriber in replay, as far as its reader accepts them. */
export function replay(subscriber: Subscriber, events: readonly StreamEvent[]): void {
  const { reader } = subscriber;
  if (events.length === 0) return;
  reader.cork(() => {
    for (const event of events) {
      if (subscriber.mode !== 'replaying' || reader.bufferedBytes() > replayAheadBytes) return;
      send(subscriber, event, frameText);
    }
  });
}

/** Resolves when the reader accepts more of the replay, or the subscriber is live or ended. */
export async function waitForReader(subscriber: Subscriber): Promise<void> {
  while (subscriber.mode === 'replaying' && subscriber.reader.bufferedBytes() > replayAheadBytes) {
    await new Promise<void>((resolve) => (subscriber.onDrain = resolve));
    subscriber.onDrain = null;
  }
}

function sendEach(subscriber: Subscriber, events: readonly StreamEvent[]): void {
  for (const event of events) {
    if (event.seq <= subscriber.position) continue;
    if (event.seq !== subscriber.position + 1 || !send(subscriber, event, frameOf)) return;
  }
}

/** False when the reader is too slow and was ended. */
function send(subscriber: Subscriber, event: StreamEvent, frame: typeof frameOf | typeof frameText): boolean {
  subscriber.position = event.seq;
  const name = subscriber.filter === null ? event.type : subscriber.filter(event);
  if (name === null) return true;
  const named = name === event.type ? event : renamed(event, name);
  if (subscriber.reader.send(frame(named, subscriber.sent)) === 'dropped') {
    subscriber.mode = 'ended';
    subscriber.reader.tooSlow();
    return false;
  }
  subscriber.sent = event.seq;
  return true;
}
