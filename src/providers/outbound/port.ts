/** HTTP requests to addresses that a user or an agent has named: checked, limited, and never to a private network unless the operator allows it. */
import type { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';

export type OutboundRequest = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /** The account of the request: accounts share the connections to an origin. Default: all requests without one count as one account. */
  account?: string;
  /** From the call to the last byte, redirects included. Default 15 s. */
  timeoutMs?: number;
  /** Most bytes of the body that are read, after decompression. Default 1 MiB. */
  maxBytes?: number;
  /** Most redirects that are followed; default 5. With 0 the redirect itself is the answer. */
  redirects?: number;
  /** The body as it was sent, compressed or not. */
  raw?: boolean;
  /** The address comes from the operator's configuration, not from a user or an agent: it may be private. Redirects are not followed. */
  configured?: boolean;
};

export type OutboundResponse = {
  status: number;
  /** Lower-case names; repeated headers joined by ", ". */
  headers: Record<string, string>;
  /** URL of the answer, after redirects. */
  url: string;
  body: Uint8Array;
  /** The body was longer than `maxBytes`. */
  truncated: boolean;
};

/** A request of which certainly no byte left this machine: it was refused here, no connection was made, or none was free in time. */
export class NeverSent extends AppError {
  constructor({ code, message, retryAfterS, cause }: AppError) {
    super(code, message, { cause, ...(retryAfterS !== undefined && { retryAfterS }) });
  }
}

/** Receives the events of one WebSocket. `closed` is the last one. */
export type SocketListener = {
  opened(): void;
  message(data: string | Uint8Array): void;
  closed(reason: string): void;
};

export interface OutboundSocket {
  /** Nothing is sent before it is open and after it was closed. */
  send(text: string): void;
  /** `closed` is not called afterwards. */
  close(): void;
}

/** An answer whose body is read as it arrives. */
export type OutboundStream = {
  status: number;
  /** As in `OutboundResponse`. */
  headers: Record<string, string>;
  /** Not decompressed: nothing compressed is asked for. Destroy it when the rest is not needed. It fails when aborted, and after `maxBytes`. */
  body: Readable;
};

export type StreamRequest = Pick<OutboundRequest, 'method' | 'headers' | 'body' | 'signal' | 'account' | 'timeoutMs' | 'maxBytes'>;

export interface Outbound {
  /**
   * Any status is an answer. Throws `AppError`: `bad_request` for an address that is not a plain http(s) URL, `forbidden` for an address
   * that is not permitted, `unavailable` when there was no complete answer in time; `NeverSent` with such a code where nothing was sent. Rejects with the
   * signal's reason when aborted.
   */
  fetch(url: string, request?: OutboundRequest): Promise<OutboundResponse>;
  /**
   * As `fetch`, but the body is passed on as it arrives, and redirects are not followed. `timeoutMs` ends with the answer's headers; after that
   * only the signal ends it.
   */
  stream(url: string, request?: StreamRequest): Promise<OutboundStream>;
  /**
   * A WebSocket by the same rules: checked addresses, no redirects, messages of at most 1 MiB. Throws as `fetch` if the address alone is refused.
   *
   * @param url ws or wss
   */
  webSocket(url: string, listener: SocketListener, options?: { configured?: boolean }): OutboundSocket;
  /** Throws as `fetch` for what the address alone shows, without a look-up: its form, a literal address, a name of this machine or its cloud. */
  check(url: string): void;
  close(): Promise<void>;
}
