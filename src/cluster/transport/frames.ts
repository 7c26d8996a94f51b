/**
 * The frames of a batch, as described in `proto/cluster/v1/cluster.proto`: JSON arrays that begin with the number of their type. One JSON
 * text for the whole batch is the fastest encoding in JavaScript.
 */
import { AppError, type ErrorCode, errorCodes, type Issue } from '../../errors.ts';
import type { RemoteAsk } from '../placement.ts';

export const frameType = { ask: 1, cancel: 2, reply: 3, failure: 4, notification: 5, credit: 6, ping: 7, pong: 8, goodbye: 9 } as const;

/** A node of the previous version reads a repeat as a command. */
export const askType = { command: 0, query: 1, repeat: 2 } as const;

/** The part of an ask's frame that does not depend on when it is sent. */
type AskBody = readonly [
  kind: string,
  id: string,
  name: string,
  input: unknown,
  type: number,
  commandId?: string | null,
  effectId?: string | null,
  trace?: string | null,
];

export type AskFrame = readonly [type: typeof frameType.ask, number: number, timeLeftMs: number, ...AskBody];
export type CancelFrame = readonly [type: typeof frameType.cancel, number: number];
export type ReplyFrame = readonly [type: typeof frameType.reply, number: number, value?: unknown];
export type FailureFrame = readonly [
  type: typeof frameType.failure,
  number: number,
  code: string,
  message: string,
  retryAfterS?: number | null,
  issues?: Issue[] | null,
];
export type NotificationFrame = readonly [type: typeof frameType.notification, kind: string, payload?: unknown];
export type CreditFrame = readonly [type: typeof frameType.credit, bytes: number];
export type PingFrame = readonly [type: typeof frameType.ping, number: number];
export type PongFrame = readonly [type: typeof frameType.pong, number: number];
export type GoodbyeFrame = readonly [type: typeof frameType.goodbye];

/**
 * Elements are read by position; elements that another version may leave out are optional. A later version may add elements, and frames of
 * other types, which match none of these and are ignored. `test/cluster/transport/frames.test.ts` checks the bytes of each.
 */
export type Frame =
  | AskFrame
  | CancelFrame
  | ReplyFrame
  | FailureFrame
  | NotificationFrame
  | CreditFrame
  | PingFrame
  | PongFrame
  | GoodbyeFrame;

/** Whether the value is a batch: each frame of a known type has the required elements. The actor checks the input of an ask. */
export function isBatch(batch: unknown): batch is Frame[] {
  return Array.isArray(batch) && batch.every(isFrame);
}

function isFrame(frame: unknown): boolean {
  if (!Array.isArray(frame)) return false;
  switch (frame[0]) {
    case frameType.ask:
      return Number.isSafeInteger(frame[1]) && typeof frame[2] === 'number' && isAsked(frame);
    case frameType.notification:
      return isText(frame[1]);
    case frameType.credit:
      return Number.isSafeInteger(frame[1]) && frame[1] >= 0;
    case frameType.cancel:
    case frameType.reply:
    case frameType.failure:
    case frameType.ping:
    case frameType.pong:
      return Number.isSafeInteger(frame[1]);
    default:
      return Number.isSafeInteger(frame[0]);
  }
}

function isAsked(frame: readonly unknown[]): boolean {
  for (let i = 3; i < 6; i++) if (!isText(frame[i])) return false;
  for (let i = 8; i < frame.length && i < 11; i++) if (frame[i] !== null && !isText(frame[i])) return false;
  return true;
}

function isText(element: unknown): boolean {
  return typeof element === 'string';
}

/** Serialised once for each ask; `askFrame` adds the part that depends on the time of sending. */
export function askBody({ kind, id, name, input, query, repeat, commandId, effectId, trace }: RemoteAsk): string {
  const frameType = query ? askType.query : repeat ? askType.repeat : askType.command;
  const elements: AskBody =
    trace !== null || effectId !== null
      ? [kind, id, name, input, frameType, commandId, effectId, trace]
      : commandId !== null
        ? [kind, id, name, input, frameType, commandId]
        : [kind, id, name, input, frameType];
  return JSON.stringify(elements).slice(1);
}

export function askFrame(number: number, timeLeftMs: number, body: string): string {
  return `[${frameType.ask},${number},${timeLeftMs},${body}`;
}

/** The ask under this process's `monotonicMs`. */
export function readAsk(frame: AskFrame, nowMs: number): RemoteAsk {
  return {
    kind: frame[3],
    id: frame[4],
    name: frame[5],
    input: frame[6],
    query: frame[7] === askType.query,
    repeat: frame[7] === askType.repeat,
    deadlineMs: nowMs + frame[2],
    commandId: frame[8] ?? null,
    effectId: frame[9] ?? null,
    trace: frame[10] ?? null,
  };
}

export function replyFrame(number: number, value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined ? `[${frameType.reply},${number}]` : `[${frameType.reply},${number},${text}]`;
}

export function failureFrame(number: number, { code, message, retryAfterS, issues }: AppError): string {
  const frame: FailureFrame = [frameType.failure, number, code, message, retryAfterS ?? null, issues ?? null];
  return JSON.stringify(frame);
}

/** The other node's refusal as a local error. A code of a later version counts as a defect. */
export function readFailure(frame: FailureFrame): AppError {
  const code: ErrorCode = Object.hasOwn(errorCodes, frame[2]) ? (frame[2] as ErrorCode) : 'internal';
  const options: { retryAfterS?: number; issues?: Issue[] } = {};
  if (frame[4] != null) options.retryAfterS = frame[4];
  if (frame[5] != null) options.issues = frame[5];
  return new AppError(code, String(frame[3]), options);
}

export function notificationFrame(kind: string, payload: unknown): string {
  const frame: NotificationFrame = [frameType.notification, kind, payload];
  return JSON.stringify(frame);
}

export function cancelFrame(number: number): string {
  return `[${frameType.cancel},${number}]`;
}

export function creditFrame(bytes: number): string {
  return `[${frameType.credit},${bytes}]`;
}

export function pingFrame(number: number): string {
  return `[${frameType.ping},${number}]`;
}

export function pongFrame(number: number): string {
  return `[${frameType.pong},${number}]`;
}

export const goodbyeFrame = `[${frameType.goodbye}]`;
