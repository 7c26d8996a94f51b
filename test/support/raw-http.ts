/** HTTP by hand over a socket: sends exactly the given bytes, and reads answers unchanged. */
import net from 'node:net';

export type RawAnswer = { status: number; headers: Map<string, string>; body: Buffer };

export class RawClient {
  readonly socket: net.Socket;
  private received = Buffer.alloc(0);
  private ended = false;
  private wake: () => void = () => {};

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.ended = true;
        this.wake();
      });
    }
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = net.connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawClient(socket);
  }

  /** Strings are sent as latin1: one character, one byte. Resolves when the kernel has taken them, or the connection is gone. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve()));
  }

  /** The next answer on this connection; null when the server closed it instead. */
  async answer(options: { head?: boolean } = {}): Promise<RawAnswer | null> {
    const headEnd = await this.until(() => this.received.indexOf('\r\n\r\n'));
    if (headEnd === -1) return null;
    const [statusLine = '', ...lines] = this.received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    this.received = this.received.subarray(headEnd + 4);
    const status = Number(statusLine.split(' ')[1]);
    if (status === 100) return this.answer(options);
    if (options.head || status === 204 || status === 304) return { status, headers, body: Buffer.alloc(0) };
    return { status, headers, body: await this.body(headers) };
  }

  /** Waits until the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.ended) await this.more();
  }

  /** Everything received and not yet read as an answer. */
  get rest(): Buffer {
    return this.received;
  }

  end(): void {
    this.socket.destroy();
  }

  private async body(headers: Map<string, string>): Promise<Buffer> {
    if (headers.get('transfer-encoding') === 'chunked') {
      const end = await this.until(() => this.received.indexOf('0\r\n\r\n'));
      const body = unchunk(this.received.subarray(0, end === -1 ? undefined : end));
      this.received = this.received.subarray(end + 5);
      return body;
    }
    const length = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY);
    await this.until(() => (this.received.length >= length ? length : -1));
    const body = this.received.subarray(0, length);
    this.received = this.received.subarray(body.length);
    return body;
  }

  private async until(position: () => number): Promise<number> {
    for (;;) {
      const found = position();
      if (found !== -1 || this.ended) return found;
      await this.more();
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

/** One request on a connection of its own. */
export async function rawRequest(port: number, bytes: string | Buffer, options: { head?: boolean } = {}): Promise<RawAnswer | null> {
  const client = await RawClient.connect(port);
  await client.send(bytes);
  const answer = await client.answer(options);
  client.end();
  return answer;
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) break;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
