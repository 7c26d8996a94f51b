/** The limit of streaming: raw uWebSockets.js sends the same bytes to the same sockets, with the same number in flight; nothing is looked up or committed. */
import { App, us_listen_socket_close, us_socket_local_port, type WebSocket } from 'uWebSockets.js';
import { serveCalls } from '../support/program.ts';
import { weighed } from '../support/weight.ts';
import { DeliveryWindow } from '../support/window.ts';

const sockets: WebSocket<unknown>[] = [];
const window = new DeliveryWindow();
let sending: Promise<void> | null = null;
let over = false;

const app = App().ws('/ws', {
  maxBackpressure: 1024 * 1024,
  message(ws) {
    ws.send('{"type":"auth_ok"}');
    sockets.push(ws);
  },
  close(ws) {
    sockets.splice(sockets.indexOf(ws), 1);
  },
});

serveCalls({
  listen: () =>
    new Promise((resolve, reject) => {
      app.listen('127.0.0.1', 0, (socket) => {
        if (socket === false) return reject(new Error('no port'));
        process.once('exit', () => us_listen_socket_close(socket));
        resolve(us_socket_local_port(socket));
      });
    }),

  /** Sends until `stop`: each message to every socket, or to one socket after the other. */
  begin({ payloadBytes, toAll }: { payloadBytes: number; toAll: boolean }) {
    over = false;
    window.reset();
    sending = toAll ? sendToAll(Buffer.alloc(payloadBytes, 'x')) : sendToOne(Buffer.alloc(payloadBytes, 'x'));
  },

  progress: (frames: number) => window.progress(frames),

  async stop() {
    over = true;
    window.close();
    await sending;
  },

  /** What the process holds after a collection. */
  weigh: () => weighed(),

  mark: () => ({ atMs: performance.now(), committed: 0 }),
});

/** As many messages as fit go to a socket together. */
async function sendToAll(payload: Buffer): Promise<void> {
  while (!over) {
    await window.wait();
    const messages = Math.max(1, Math.floor(window.room / sockets.length));
    window.take(messages * sockets.length);
    for (const socket of sockets) {
      socket.cork(() => {
        for (let i = 0; i < messages; i++) socket.send(payload);
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function sendToOne(payload: Buffer): Promise<void> {
  while (!over) {
    await window.wait();
    window.take(sockets.length);
    for (const socket of sockets) socket.send(payload);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
