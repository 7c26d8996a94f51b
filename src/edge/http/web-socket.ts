/** One WebSocket as its handlers see it: safe to use after its end, and telling truly what became of a message. */

export type WebSocketHandlers<T> = {
  open(connection: Connection<T>): void;
  /** Text arrives as a string (valid UTF-8, or uWS closes with 1007), binary as a buffer. */
  message(connection: Connection<T>, message: string | Buffer): void;
  /** Unsent bytes have become fewer. */
  drain(connection: Connection<T>): void;
  /** Last call for this connection; 1006 where the client just went away. */
  close(connection: Connection<T>, code: number, reason: string): void;
};

export type WebSocketLimits = {
  /** A longer message from the client closes the connection. */
  maxMessageBytes: number;
  /** Above it `send` answers `dropped`. */
  maxBufferedBytes: number;
  /** Silence after which the connection ends, pings in between. Seconds, 8 to 960. */
  idleTimeoutS: number;
};

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
  readonly remoteAddress: string;
  /** The handlers' own; unset until `open` sets it. */
  data!: T;
  #socket: RawSocket | null = null;

  constructor(remoteAddress: string) {
    this.remoteAddress = remoteAddress;
  }

  /** Sends a text message, given as a string or as the UTF-8 bytes of one. After the end it is `dropped`. */
  send(text: string | Uint8Array): SendResult {
    return this.#socket === null ? 'dropped' : results[this.#socket.send(text, false, false)]!;
  }

  /** Bytes taken by `send` and not yet by the network. */
  bufferedBytes(): number {
    return this.#socket === null ? 0 : this.#socket.getBufferedAmount();
  }

  /** Says good-bye with a close code; what is buffered is sent first as far as the reader takes it. */
  end(code: number, reason: string): void {
    this.#socket?.end(code, reason);
  }

  /** Sends made inside `work` leave together. */
  cork(work: () => void): void {
    this.#socket?.cork(work);
  }

  /** For the server: the connection is open. */
  attach(socket: RawSocket): void {
    this.#socket = socket;
  }

  /** For the server: the connection has ended. */
  detach(): void {
    this.#socket = null;
  }
}
