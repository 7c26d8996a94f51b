/** One WebSocket of the service's event stream (contract: `/ws`): from the hello to its end, as an iterator of events. */
import type { TaskEvent } from './task.ts';

export type SocketEnd = 'lost' | 'refused';
export type EventSocket = {
  /** True when the stream goes on just after the event that was asked for; false where older events must be had elsewhere. */
  resumed: boolean;
  /** How long to stay away once it has ended: a node that leaves asks each client to come back at a time of its own. */
  stayAwayMs(): number;
  /** Events as they come; returns why it ended. */
  events(): AsyncGenerator<TaskEvent, SocketEnd>;
  close(): void;
};

const helloTimeoutMs = 10_000;
const pingEveryMs = 20_000;
/** More unread events than this, and the socket is given up: resuming brings them again. */
const maxWaiting = 10_000;
/** The delay that the service asks for. */
const longestAwayMs = 10_000;
/** With these closings the service says not to come back. */
const refusals: readonly number[] = [4400, 4401, 4408, 4429];

type Frame = { type?: string; resumed?: boolean; event?: TaskEvent; reconnect_after_ms?: unknown };

/** Opens the stream after event `resumeFrom`, narrowed to one task. Null when it cannot be had now, `refused` when not at all. */
export async function openEventSocket(
  url: string,
  { token, taskId, resumeFrom, signal }: { token: string; taskId: string; resumeFrom: number; signal: AbortSignal },
): Promise<EventSocket | SocketEnd> {
  // A listener is not called for an abort that has happened already.
  if (signal.aborted) return 'lost';
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
  const waiting: TaskEvent[] = [];
  let ended: SocketEnd | null = null;
  let heard = true;
  let awayMs = 0;
  let wake = () => {};
  const hello = Promise.withResolvers<boolean | SocketEnd>();
  const end = (how: SocketEnd) => {
    // Closing a socket that is still connecting fires its error at once, which would come here again.
    if (ended !== null) return;
    ended = how;
    clearInterval(pings);
    clearTimeout(impatience);
    signal.removeEventListener('abort', leave);
    hello.resolve(ended);
    wake();
    socket.close();
  };
  const leave = () => end('lost');
  const impatience = setTimeout(leave, helloTimeoutMs);
  const pings = setInterval(() => {
    if (!heard) return leave();
    heard = false;
    if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
  }, pingEveryMs);
  signal.addEventListener('abort', leave, { once: true });

  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', token, resume_from: resumeFrom })));
  socket.addEventListener('error', leave);
  socket.addEventListener('close', ({ code }) => end(refusals.includes(code) ? 'refused' : 'lost'));
  socket.addEventListener('message', ({ data }) => {
    heard = true;
    const frame = parse(data);
    if (frame.type === 'auth_ok') {
      clearTimeout(impatience);
      socket.send(JSON.stringify({ type: 'subscribe', topics: [`task:${taskId}`] }));
      hello.resolve(frame.resumed === true);
    } else if (frame.type === 'goaway') {
      const asked = Number(frame.reconnect_after_ms);
      if (asked > 0) awayMs = Math.min(longestAwayMs, asked);
    } else if (frame.type === 'event' && frame.event?.data?.task_id === taskId) {
      if (waiting.push(frame.event) > maxWaiting) return end('lost');
      wake();
    }
  });

  async function* events(): AsyncGenerator<TaskEvent, SocketEnd> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (ended !== null) return ended;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  const resumed = await hello.promise;
  return typeof resumed === 'boolean' ? { resumed, stayAwayMs: () => awayMs, events, close: leave } : resumed;
}

function parse(data: unknown): Frame {
  try {
    return typeof data === 'string' ? ((JSON.parse(data) ?? {}) as Frame) : {};
  } catch {
    return {};
  }
}
