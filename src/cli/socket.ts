/** One WebSocket of the service's event stream (contract: `/ws`): from the `auth` message to its end, as an iterator of events. */
import type { TaskEvent } from './task.ts';

export type SocketEnd = 'lost' | 'refused';
export type EventSocket = {
  /** True if the stream continues directly after the requested event; false if older events must be read elsewhere. */
  resumed: boolean;
  /** How long to wait after the end: a node that leaves asks each client to reconnect at a different time. */
  reconnectAfterMs(): number;
  /** Events as they arrive; returns why the stream ended. */
  events(): AsyncGenerator<TaskEvent, SocketEnd>;
  close(): void;
};

const helloTimeoutMs = 10_000;
const pingEveryMs = 20_000;
/** With more unread events than this, the socket is closed: resuming delivers them again. */
const maxWaiting = 10_000;
/** The delay that the service asks for. */
const maxReconnectAfterMs = 10_000;
/** Close codes after which the client must not reconnect. */
const refusals: readonly number[] = [4400, 4401, 4408, 4429];

type Frame = { type?: string; resumed?: boolean; event?: TaskEvent; reconnect_after_ms?: unknown };

export type EventSocketOptions = {
  token: string;
  /** As the stream's `subscribe` takes them. */
  topics: readonly string[];
  /** Whether the event is of the topics: some that are not arrive before the subscription. */
  isChosen(event: TaskEvent): boolean;
  /** The last event that is known; null: only new events. */
  resumeFrom: number | null;
  signal: AbortSignal;
};

/** Opens the stream of the chosen events. `lost` if it is unavailable now, `refused` if permanently. */
export async function openEventSocket(
  url: string,
  { token, topics, isChosen, resumeFrom, signal }: EventSocketOptions,
): Promise<EventSocket | SocketEnd> {
  // A listener is not called for an earlier abort.
  if (signal.aborted) return 'lost';
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
  const waiting: TaskEvent[] = [];
  let ended: SocketEnd | null = null;
  let isAlive = true;
  let reconnectAfterMs = 0;
  let wake = () => {};
  const hello = Promise.withResolvers<boolean | SocketEnd>();
  const end = (how: SocketEnd) => {
    // Closing a socket that is still connecting emits its error at once, which would call this function again.
    if (ended !== null) return;
    ended = how;
    clearInterval(pings);
    clearTimeout(helloTimer);
    signal.removeEventListener('abort', leave);
    hello.resolve(ended);
    wake();
    socket.close();
  };
  const leave = () => end('lost');
  const helloTimer = setTimeout(leave, helloTimeoutMs);
  const pings = setInterval(() => {
    if (!isAlive) return leave();
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
  }, pingEveryMs);
  signal.addEventListener('abort', leave, { once: true });

  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ type: 'auth', token, ...(resumeFrom !== null && { resume_from: resumeFrom }) })),
  );
  socket.addEventListener('error', leave);
  socket.addEventListener('close', ({ code }) => end(refusals.includes(code) ? 'refused' : 'lost'));
  socket.addEventListener('message', ({ data }) => {
    isAlive = true;
    const frame = parse(data);
    if (frame.type === 'auth_ok') {
      clearTimeout(helloTimer);
      socket.send(JSON.stringify({ type: 'subscribe', topics }));
      hello.resolve(frame.resumed === true);
    } else if (frame.type === 'goaway') {
      const requestedMs = Number(frame.reconnect_after_ms);
      if (requestedMs > 0) reconnectAfterMs = Math.min(maxReconnectAfterMs, requestedMs);
    } else if (frame.type === 'event' && frame.event?.data !== undefined && isChosen(frame.event)) {
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
  return typeof resumed === 'boolean' ? { resumed, reconnectAfterMs: () => reconnectAfterMs, events, close: leave } : resumed;
}

function parse(data: unknown): Frame {
  try {
    return typeof data === 'string' ? ((JSON.parse(data) ?? {}) as Frame) : {};
  } catch {
    return {};
  }
}
