/** One WebSocket for its handlers: safe to use after its end, and `send` reports what happened to a message. */

export type WebSocketHandlers<T> = {
  /** uWS buffers a socket's writes during this call: send a backlog, or close, after it. */
  open(connection: Connection<T>): void;
  /** Text arrives as a string (valid UTF-8, otherwise uWS closes with 1007), binary data as a buffer. */
  message(connection: Connection<T>, message: string | Buffer): void;
  /** A message longer than `maxMessageBytes` was dropped. Default: the connection is closed with 1009. */
  tooLong?(connection: Connection<T>): void;
  /** There are fewer unsent bytes. */
  drain(connection: Connection<T>): void;
  /** Last call for this connection; code 1006 where the client disconnected without a close frame. */
  close(connection: Connection<T>, code: number, reason: string): void;
};

export type WebSocketOptions = {
  /** A longer message from the client is not passed on. */
  maxMessageBytes: number;
  /**
   * uWS closes the connection without a close frame (1006) when a message exceeds this length. Each connection may hold so many bytes while
   * a message arrives. Default: `maxMessageBytes`.
   */
  maxReceivedBytes?: number;
  /** Above this, `send` returns `dropped`. */
  maxBufferedBytes: number;
  /** The connection ends after this silence; pings are sent before. Seconds, 8 to 960. */
  idleTimeoutS: number;
  /**
   * Compresses longer messages (permessage-deflate) for clients that offer it. All connections share one compressor and each message is
   * compressed alone, so a connection holds no memory for it; but a message to a thousand clients is compressed a thousand times. Default:
   * off.
   */
  compression?: boolean;
};

/** Below it, deflate saves too little for its cost. */
const minCompressedBytes = 256;

/** `buffered`: accepted, waiting for a slow reader. `dropped`: not accepted; the stream has a gap from here. */
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
  /** The client's address: the other end of the connection, or the address that a trusted proxy reports. */
  readonly clientAddress: string;
  /** Data of the handlers; unset until `open` sets it. */
  data!: T;
  private readonly options: WebSocketOptions;
  private socket: RawSocket | null = null;
  /** Whether the reader was slow at the last message: only then is the buffered amount read. */
  private behind = false;

  constructor(clientAddress: string, options: WebSocketOptions) {
    this.clientAddress = clientAddress;
    this.options = options;
  }

  /**
   * Sends a text message, given as a string or as UTF-8 bytes. It is `dropped` while more than `maxBufferedBytes` wait, and after the end.
   * The limit is applied here: uWS would drop the close frame too, and the client would never learn why it was disconnected.
   */
  send(text: string | Uint8Array): SendResult {
    const socket = this.socket;
    const { maxBufferedBytes, compression = false } = this.options;
    if (socket === null || (this.behind && socket.getBufferedAmount() > maxBufferedBytes)) return 'dropped';
    const result = results[socket.send(text, false, compression && text.length >= minCompressedBytes)]!;
    this.behind = result !== 'sent';
    return result;
  }

  /** Bytes accepted by `send` and not yet by the network. */
  bufferedBytes(): number {
    return this.socket === null ? 0 : this.socket.getBufferedAmount();
  }

  /** Closes with a close code; buffered bytes are sent first as far as the reader accepts them. */
  end(code: number, reason: string): void {
    this.socket?.end(code, reason);
  }

  /** Closes the connection at once, without a close frame. */
  cut(): void {
    this.socket?.close();
  }

  /** Messages sent inside `work` leave in one write. */
  cork(work: () => void): void {
    this.socket?.cork(work);
  }

  /** Called by the server when the connection is open. */
  attach(socket: RawSocket): void {
    this.socket = socket;
  }

  /** Called by the server when the connection has ended. */
  detach(): void {
    this.socket = null;
  }
}
