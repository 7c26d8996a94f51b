/** Events in the form that subscribers get. The text of an envelope is made once for all subscribers. */
import { isoTimestamp } from '../../clock.ts';

export type StreamEvent = {
  accountId: string;
  seq: number;
  id: string;
  type: string;
  taskId: string | null;
  /** Milliseconds. */
  createdAt: number;
  /** The envelope of contract §8 as JSON text. */
  envelope: string;
  /** The frame for readers that have the previous event: all of them get the same bytes. */
  frame: Buffer | null;
};

export function streamEvent(
  event: { accountId: string; seq: number; id: string; type: string; taskId: string | null; createdAt: number },
  dataJson: string,
): StreamEvent {
  const { accountId, seq, id, type, taskId, createdAt } = event;
  const envelope = `{"id":"${id}","seq":${seq},"type":"${type}","account_id":"${accountId}","created_at":"${isoTimestamp(createdAt)}","data":${dataJson}}`;
  return { accountId, seq, id, type, taskId, createdAt, envelope, frame: null };
}

/** The same event under its second type. */
export function renamed(event: StreamEvent, name: string): StreamEvent {
  // The fields before the type, id and number, cannot contain this text.
  const envelope = event.envelope.replace(`"type":"${event.type}"`, `"type":"${name}"`);
  return { ...event, type: name, envelope, frame: null };
}

/** A shared frame for many readers. @param prev number of the event sent before this one on the same stream */
export function frameOf(event: StreamEvent, prev: number): Buffer {
  if (prev !== event.seq - 1) return Buffer.from(frameText(event, prev));
  event.frame ??= Buffer.from(frameText(event, prev));
  return event.frame;
}

/** A frame for one reader; it is not kept. */
export function frameText(event: StreamEvent, prev: number): string {
  return `{"type":"event","prev":${prev},"event":${event.envelope}}`;
}
