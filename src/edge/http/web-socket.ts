/** One WebSocket as its handlers see it: safe to use after its end, and telling truly what became of a message. */

export type WebSocketHandlers<T> = {
  /** uWS holds a socket's writes together during this call: what sends a backlog, and then ends, does so later. */
  open(connection: Connection<T>): void;
  /** Text arrives as a string (valid UTF-8, or uWS closes with 1007), binary as a buffer. */
  message(connection: Connection<T>, message: string | Buffer): void;
  /** A message came that is longer than `maxMessageBytes`; it was dropped. Default: the connection ends with 1009. */
  tooLong?(connection: Connection<T>): void;
  /** Unsent bytes have become fewer. */
  drain(connection: Connection<T>): void;
  /** Last call for this connection; 1006 where the client just went away. */
  close(connection: Connection<T>, code: number, reason: string): void;
};

export type WebSocketOptions = {
  /** A longer message from the client is not handed on. */
  maxMessageBytes: number;
  /**
   * A message longer than this is not read to its end: uWS closes the connection without a word (1006). So many bytes may be held for each
   * connection while a message arrives. Default: `maxMessageBytes`.
   */
  maxReceivedBytes?: number;
  /** Above it `send` answers `dropped`. */
  maxBufferedBytes: number;
  /** Silence after which the connection ends, pings in between. Seconds, 8 to 960. */
  idleTimeoutS: number;
  /**
   * Longer messages go compressed (permessage-deflate) to clients that offer it. All share one compressor and each message stands alone, so no
   * connection holds memory for it; but a message to a thousand is compressed a thousand times. Default: off.
   */
  compression?: boolean;
};

/** Below it deflate saves too little for its time. */
const fewestCompressedBytes = 256;

/** `buffered`: taken, and waiting for a slow reader. `dropped`: not taken; the stream has a hole from here. */
export type SendResult = 'sent' | 'buffered' | 'dropped';

interface RawSocket {
  send(message: string | Uint8Array, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  close(): void;
  cork(work: () => void): unknown;
}

const results: readonly SendResult[] = ['buffered', 'sent', 'dropped'];

export class Connection<T> {
  /** Where the client is: the other end of its connection, or what a trusted proxy there says. */
  readonly clientAddress: string;
  /** The handlers' own; unset until `open` sets it. */
  data!: T;
  private readonly options: WebSocketOptions;
  private socket: RawSocket | null = null;
  /** Whether the last message found the reader slow: only then is it worth asking how slow. */
  private behind = false;

  constructor(clientAddress: string, options: WebSocketOptions) {
    this.clientAddress = clientAddress;
    this.options = options;
  }

  /**
   * Sends a text message, given as a string or as the UTF-8 bytes of one. It is `dropped` while more than `maxBufferedBytes` wait, and after the end.
   * The limit is kept here: uWS's own would drop the close frame too, and the client would never learn why it was sent away.
   */
  send(text: string | Uint8Array): SendResult {
    const socket = this.socket;
    const { maxBufferedBytes, compression = false } = this.options;
    if (socket === null || (this.behind && socket.getBufferedAmount() > maxBufferedBytes)) return 'dropped';
    const result = results[socket.send(text, false, compression && text.length >= fewestCompressedBytes)]!;
    this.behind = result !== 'sent';
    return result;
  }

  /** Bytes taken by `send` and not yet by the network. */
  bufferedBytes(): number {
    return this.socket === null ? 0 : this.socket.getBufferedAmount();
  }

  /** Says good-bye with a close code; what is buffered is sent first as far as the reader takes it. */
  end(code: number, reason: string): void {
    this.socket?.end(code, reason);
  }

  /** Cuts the connection at once; its client hears no reason. */
  cut(): void {
    this.socket?.close();
  }

  /** Sends made inside `work` leave together. */
  cork(work: () => void): void {
    this.socket?.cork(work);
  }

  /** For the server: the connection is open. */
  attach(socket: RawSocket): void {
    this.socket = socket;
  }

  /** For the server: the connection has ended. */
  detach(): void {
    this.socket = null;
  }
}
