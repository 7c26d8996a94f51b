/** Events as subscribers see them. The envelope's text is made once, whoever receives it. */
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
  /** The frame for a reader who has the event before this one: the same bytes for all of those. */
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

/** The same event under its other name. */
export function renamed(event: StreamEvent, name: string): StreamEvent {
  // What stands before the type in an envelope, id and number, holds no such text.
  const envelope = event.envelope.replace(`"type":"${event.type}"`, `"type":"${name}"`);
  return { ...event, type: name, envelope, frame: null };
}

/** For many readers. @param prev the number of the event sent before this one on the same stream */
export function frameOf(event: StreamEvent, prev: number): Buffer {
  if (prev !== event.seq - 1) return Buffer.from(frameText(event, prev));
  event.frame ??= Buffer.from(frameText(event, prev));
  return event.frame;
}

/** For one reader: nothing is kept. */
export function frameText(event: StreamEvent, prev: number): string {
  return `{"type":"event","prev":${prev},"event":${event.envelope}}`;
}
