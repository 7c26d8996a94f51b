/** The server's end of WebSockets over `node:http`, for stand-ins: small messages, text or binary. */

import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Json } from './json.ts';

export class ServedSocket {
  readonly received: Json[] = [];
  isOpen = true;
  private readonly stream: Duplex;

  constructor(stream: Duplex, onMessage: (message: Json, socket: ServedSocket) => void) {
    this.stream = stream;
    let buffered = Buffer.alloc(0);
    stream.on('error', () => {});
    stream.on('close', () => {
      this.isOpen = false;
    });
    stream.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (let frame = readFrame(buffered); frame !== null; frame = readFrame(buffered)) {
        buffered = buffered.subarray(frame.bytes);
        if (frame.opcode === 8) return this.cut();
        if (frame.opcode > 2) continue;
        const message = JSON.parse(frame.payload.toString());
        this.received.push(message);
        onMessage(message, this);
      }
    });
  }

  send(message: unknown, { binary = false } = {}): void {
    const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    const length = payload.length < 126 ? Buffer.from([payload.length]) : Buffer.from([126, payload.length >> 8, payload.length & 255]);
    if (this.isOpen) this.stream.write(Buffer.concat([Buffer.from([binary ? 0x82 : 0x81]), length, payload]));
  }

  /** Without a farewell. */
  cut(): void {
    this.isOpen = false;
    this.stream.destroy();
  }
}

/** @param isRefused whether a connection is cut before it is one */
export function serveWebSockets(
  server: Server,
  onMessage: (message: Json, socket: ServedSocket) => void,
  isRefused: (request: IncomingMessage) => boolean,
): Set<ServedSocket> {
  const sockets = new Set<ServedSocket>();
  server.on('upgrade', (request, stream: Duplex) => {
    if (isRefused(request)) return stream.destroy();
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const socket = new ServedSocket(stream, onMessage);
    sockets.add(socket);
    stream.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Frames of clients are masked, and here below 64 KiB. */
function readFrame(data: Buffer): { opcode: number; payload: Buffer; bytes: number } | null {
  if (data.length < 6) return null;
  const isLong = (data[1]! & 127) === 126;
  const length = isLong ? data.readUInt16BE(2) : data[1]! & 127;
  const start = isLong ? 8 : 6;
  if (data.length < start + length) return null;
  const mask = data.subarray(start - 4, start);
  const payload = Buffer.from(data.subarray(start, start + length).map((byte, i) => byte ^ mask[i % 4]!));
  return { opcode: data[0]! & 15, payload, bytes: start + length };
}
