/** A WebSocket client that a test controls: it can stop reading at the socket, disconnect without a close, and send invalid frames. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Json } from './json.ts';

/** What a compressed message ends with, and leaves out (RFC 7692). */
const deflateTail = Buffer.from([0, 0, 0xff, 0xff]);

const untilLimitMs = 120_000;

export class StreamClient {
  /** Every JSON message so far. */
  readonly messages: Json[] = [];
  closeCode: number | null = null;
  closeReason = '';
  /** What the server answered to the offer of compression; empty: nothing. */
  extensions = '';
  /** Messages that came compressed, and the bytes of all that came. */
  compressedMessages = 0;
  receivedBytes = 0;
  private readonly socket: Socket;
  private rest = Buffer.alloc(0);
  private upgraded = false;
  private wake: (() => void)[] = [];
  private over = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => this.take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.over = true;
      this.awaken();
    });
  }

  /** @param extensions offered, e.g. `permessage-deflate` */
  static async open(port: number, path = '/ws', extensions = ''): Promise<StreamClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const client = new StreamClient(socket);
    await once(socket, 'connect');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n${extensions === '' ? '' : `Sec-WebSocket-Extensions: ${extensions}\r\n`}\r\n`,
    );
    await client.until(() => client.upgraded || client.over);
    return client;
  }

  get events(): Json[] {
    return this.messages.filter((message) => message.type === 'event');
  }

  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }
  sendText(text: string): void {
    this.frame(0x81, Buffer.from(text));
  }
  sendCompressed(text: string): void {
    const deflated = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
    this.frame(0xc1, deflated.subarray(0, -deflateTail.length));
  }
  sendBinary(bytes: Buffer): void {
    this.frame(0x82, bytes);
  }
  pause(): void {
    this.socket.pause();
  }
  resume(): void {
    this.socket.resume();
  }
  /** Gone without a close frame. */
  vanish(): void {
    this.socket.destroy();
  }

  /**
   * Resolves when the condition holds; it is evaluated at each message. Rejects when the connection ends before, or after two
   * minutes, with the newest messages.
   */
  async until(condition: () => boolean): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.awaken();
    }, untilLimitMs);
    try {
      while (!condition()) {
        if (this.over)
          throw new Error(`the stream ended with ${this.closeCode} ${this.closeReason} after ${this.messages.length} messages`);
        if (isLate) throw new Error(`not on the stream; the newest messages: ${JSON.stringify(this.messages.slice(-5))}`);
        await new Promise<void>((resolve) => this.wake.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async untilMessage(type: string): Promise<Json> {
    await this.until(() => this.messages.some((message) => message.type === type));
    return this.messages.find((message) => message.type === type);
  }

  /** The close code. */
  async ended(): Promise<number | null> {
    while (!this.over) await new Promise<void>((resolve) => this.wake.push(resolve));
    return this.closeCode;
  }

  private frame(head: number, payload: Buffer): void {
    const size = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : payload.length < 65_536 ? Buffer.alloc(3) : Buffer.alloc(9);
    if (size.length === 3) size.writeUInt16BE(payload.length, 1);
    if (size.length === 9) size.writeBigUInt64BE(BigInt(payload.length), 1);
    if (size.length > 1) size[0] = 0x80 | (size.length === 3 ? 126 : 127);
    // A mask of zeros is a mask.
    this.socket.write(Buffer.concat([Buffer.from([head]), size, Buffer.alloc(4), payload]));
  }

  private take(chunk: Buffer): void {
    this.receivedBytes += chunk.length;
    this.rest = this.rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.rest, chunk]);
    if (!this.upgraded) {
      const end = this.rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.upgraded = true;
      this.extensions = /sec-websocket-extensions: (.*)\r/i.exec(this.rest.toString('latin1', 0, end + 2))?.[1] ?? '';
      this.rest = this.rest.subarray(end + 4);
    }
    for (;;) {
      if (this.rest.length < 2) break;
      const short = this.rest[1]! & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (this.rest.length < start) break;
      const length = short === 126 ? this.rest.readUInt16BE(2) : short === 127 ? Number(this.rest.readBigUInt64BE(2)) : short;
      if (this.rest.length < start + length) break;
      const payload = this.rest.subarray(start, start + length);
      const isCompressed = (this.rest[0]! & 0x40) !== 0;
      if (isCompressed) this.compressedMessages++;
      this.message(
        this.rest[0]! & 0x0f,
        isCompressed ? inflateRawSync(Buffer.concat([payload, deflateTail]), { finishFlush: constants.Z_SYNC_FLUSH }) : payload,
      );
      this.rest = this.rest.subarray(start + length);
    }
    this.awaken();
  }

  private message(opcode: number, payload: Buffer): void {
    if (opcode === 1) this.messages.push(JSON.parse(payload.toString('utf8')));
    if (opcode !== 8) return;
    this.closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    this.closeReason = payload.subarray(2).toString('utf8');
    this.frame(0x88, payload.subarray(0, 2));
    this.socket.end();
  }

  private awaken(): void {
    const waiting = this.wake;
    this.wake = [];
    for (const resolve of waiting) resolve();
  }
}
