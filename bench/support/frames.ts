/** Finds the WebSocket frames in a server's bytes and does as little else as can be done: a receiver must not be what is measured. */

/** Called with each whole frame. The payload's first bytes are passed where they came in one piece with the frame's header, else null. */
export type OnFrame = (opcode: number, payloadBytes: number, chunk: Buffer | null, start: number) => void;

const longestHeaderBytes = 10;

export class FrameReader {
  /** Payload bytes of the frame being read that have not come yet. */
  private missing = 0;
  private opcode = 0;
  private payloadBytes = 0;
  /** The beginning of a header whose rest has not come yet. */
  private readonly header = Buffer.alloc(longestHeaderBytes);
  private headerBytes = 0;

  /** Reads `length` bytes of `chunk`. */
  read(chunk: Buffer, length: number, onFrame: OnFrame): void {
    let at = 0;
    while (at < length) {
      if (this.missing > 0) {
        const taken = Math.min(this.missing, length - at);
        at += taken;
        this.missing -= taken;
        if (this.missing === 0) onFrame(this.opcode, this.payloadBytes, null, 0);
        continue;
      }
      if (this.headerBytes > 0 || length - at < longestHeaderBytes) {
        this.header[this.headerBytes++] = chunk[at++]!;
        if (this.headerBytes < headerBytesOf(this.header, 0, this.headerBytes)) continue;
        this.begin(this.header, 0);
        this.headerBytes = 0;
        if (this.payloadBytes === 0) onFrame(this.opcode, 0, null, 0);
        continue;
      }
      const size = headerBytesOf(chunk, at, longestHeaderBytes);
      this.begin(chunk, at);
      at += size;
      if (this.payloadBytes <= length - at) {
        this.missing = 0;
        onFrame(this.opcode, this.payloadBytes, chunk, at);
        at += this.payloadBytes;
      }
    }
  }

  private begin(bytes: Buffer, at: number): void {
    this.opcode = bytes[at]! & 0x0f;
    const short = bytes[at + 1]! & 0x7f;
    this.payloadBytes = short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    this.missing = this.payloadBytes;
  }
}

/** The length of the header, as far as `known` bytes show it. */
function headerBytesOf(bytes: Buffer, at: number, known: number): number {
  if (known < 2) return 2;
  const short = bytes[at + 1]! & 0x7f;
  return short < 126 ? 2 : short === 126 ? 4 : 10;
}

/** A client's text frame, masked with zeros, which is a mask like any other. */
export function clientText(text: string): Buffer {
  const payload = Buffer.from(text);
  const header = payload.length < 126 ? [0x81, 0x80 | payload.length] : [0x81, 0xfe, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([...header, 0, 0, 0, 0]), payload]);
}

export const clientPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
export const opcodes = { text: 1, close: 8, ping: 9 } as const;
