/** Many WebSocket clients in one process that count what arrives, and note when, if asked. They speak just enough of the protocol. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { clientPong, clientText, FrameReader, opcodes } from '../support/frames.ts';
import { machineMs } from '../support/machine-clock.ts';
import { notifyParent, serveCalls } from '../support/program.ts';

type Client = { socket: Socket; reader: FrameReader; account: number };

/** One buffer for all: received bytes are parsed before the next read. */
const buffer = Buffer.alloc(256 * 1024);
const connectTogether = 100;
const upgrade =
  'GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dHJvdXBlIGJlbmNoIGtleQ==\r\n\r\n';
/** What stands between the start of an event frame and the number of the event before it. */
const prevAt = '{"type":"event","prev":'.length;
const progressMs = 2;
/** Of `{"type":"replayed","seq":…}`. */
const longestReplayedBytes = 50;

let clients: Client[] = [];
let frames = 0;
let payloadBytes = 0;
let closed = 0;
/** What the server said when it closed the first of them. */
let closeReason = '';
/** Triples of account, number of the event and time of arrival; null while arrival times are not recorded. */
let arrivals: number[] | null = null;
let unread = 0;
let reportedFrames = 0;
let progressTimer: NodeJS.Timeout | null = null;

serveCalls({
  /** Opens `count` sockets, each of its own account or all of the first, and waits until each has its `auth_ok`. */
  async open({ port, count, accounts }: { port: number; count: number; accounts: number }) {
    for (let from = 0; from < count; from += connectTogether) {
      const many = Math.min(connectTogether, count - from);
      clients.push(...(await Promise.all(Array.from({ length: many }, (_, i) => openClient(port, (from + i) % accounts)))));
    }
    progressTimer = setInterval(reportProgress, progressMs);
  },

  async close() {
    if (progressTimer !== null) clearInterval(progressTimer);
    await Promise.all(clients.map(({ socket }) => once(socket.destroy(), 'close')));
    clients = [];
    frames = payloadBytes = closed = reportedFrames = 0;
  },

  /** Resumes an account's stream from its beginning; milliseconds until the replay has ended. */
  replay: ({ port, account }: { port: number; account: number }) =>
    new Promise<number>((resolve, reject) => {
      const beganMs = performance.now();
      const reader = new FrameReader();
      let upgraded = false;
      let lastPayloadBytes = 0;
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.on('error', reject);
      socket.on('connect', () => socket.write(upgrade));
      socket.on('data', (chunk) => {
        let from = 0;
        if (!upgraded) {
          from = chunk.indexOf('\r\n\r\n') + 4;
          upgraded = true;
          socket.write(clientText(JSON.stringify({ type: 'auth', token: String(account), resume_from: 0 })));
        }
        reader.read(chunk.subarray(from), chunk.length - from, (opcode, bytes, text, start) => {
          if (opcode === opcodes.close) reject(new Error(text?.toString('utf8', start) ?? 'closed'));
          // Events are longer than the word that ends them.
          if (lastPayloadBytes > bytes && bytes < longestReplayedBytes) {
            resolve(performance.now() - beganMs);
            socket.destroy();
          }
          lastPayloadBytes = bytes;
        });
      });
    }),

  /** Counts since the opening, and the processor time this process has used. */
  mark: () => ({ atMs: performance.now(), frames, payloadBytes, closed, closeReason, cpuMs: cpuMs() }),

  watch() {
    arrivals = [];
    unread = 0;
  },

  arrived() {
    const watched = Float64Array.from(arrivals!);
    arrivals = null;
    return { arrivals: watched, unread };
  },
});

function openClient(port: number, account: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    const reader = new FrameReader();
    let upgraded = false;
    let open = false;
    const onFrame = (opcode: number, bytes: number, chunk: Buffer | null, start: number): void => {
      if (opcode === opcodes.text && open) {
        frames++;
        payloadBytes += bytes;
        if (arrivals !== null) note(account, chunk, start);
      } else if (opcode === opcodes.text) {
        open = true;
        resolve({ socket, reader, account });
      } else if (opcode === opcodes.ping) socket.write(clientPong);
      else if (opcode === opcodes.close && closeReason === '')
        closeReason = chunk === null ? '' : `${chunk.readUInt16BE(start)} ${chunk.toString('utf8', start + 2, start + bytes)}`;
    };
    const read = (length: number): boolean => {
      let from = 0;
      if (!upgraded) {
        // The answer to the upgrade comes in one piece.
        from = buffer.indexOf('\r\n\r\n') + 4;
        if (buffer.toString('latin1', 9, 12) !== '101') reject(new Error(buffer.toString('latin1', 0, 100)));
        upgraded = true;
        socket.write(clientText(JSON.stringify({ type: 'auth', token: String(account) })));
      }
      if (from < length) reader.read(from === 0 ? buffer : buffer.subarray(from), length - from, onFrame);
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback: read } } as never);
    socket.on('connect', () => socket.write(upgrade));
    socket.on('error', reject);
    socket.on('close', () => closed++);
  });
}

function note(account: number, chunk: Buffer | null, start: number): void {
  if (chunk === null) return void unread++;
  let prev = 0;
  for (let at = start + prevAt; chunk[at] !== 0x2c; at++) prev = prev * 10 + chunk[at]! - 0x30;
  arrivals!.push(account, prev + 1, machineMs());
}

/** Reports the number of received frames to the sender, so that it can keep the sockets full but not overfull. */
function reportProgress(): void {
  if (frames === reportedFrames) return;
  reportedFrames = frames;
  notifyParent({ frames });
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
