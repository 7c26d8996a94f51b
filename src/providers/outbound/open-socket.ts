/**
 * A WebSocket over a connection of its own to a checked address: sockets that wait for their server must not take the connections that short
 * requests share. Errors of the library are reported as one `closed`.
 */
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, WebSocket } from 'undici';
import type { OutboundSocket, SocketListener } from './port.ts';

export type SocketLimits = { connectTimeoutMs: number; maxHeaderBytes: number; maxMessageBytes: number };

/** From the close until the connection is ended, if the server has not ended it. */
const closeWithinMs = 2_000;

/** @param lookup resolves names to checked addresses */
export function openSocket({ href }: URL, lookup: LookupFunction, limits: SocketLimits, listener: SocketListener): OutboundSocket {
  const connect = buildConnector({ lookup, timeout: limits.connectTimeoutMs, allowH2: false });
  let connection: { destroy(): void } | null = null;
  const dispatcher = new Agent({
    connect: (options, callback) =>
      connect(options, (...[error, stream]) => {
        connection = stream;
        if (error === null) callback(null, stream!);
        else callback(error, null);
      }),
    connections: 1,
    allowH2: false,
    maxHeaderSize: limits.maxHeaderBytes,
    webSocket: { maxPayloadSize: limits.maxMessageBytes },
    // The caller decides how long it waits.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const socket = new WebSocket(href.replace(/^http/, 'ws'), { dispatcher, headers: { 'user-agent': 'Troupe/0.1' } });
  socket.binaryType = 'arraybuffer';
  let isOver = false;
  const end = (reason: string) => {
    if (isOver) return;
    isOver = true;
    connection?.destroy();
    listener.closed(reason);
  };
  socket.addEventListener('open', () => {
    if (!isOver) listener.opened();
  });
  socket.addEventListener('message', ({ data }) => {
    if (!isOver) listener.message(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
  });
  // Its message names addresses; a `close` follows where there was a connection.
  socket.addEventListener('error', () => end('the connection failed'));
  socket.addEventListener('close', ({ code }) => end(`closed with code ${code}`));
  return {
    send(text) {
      if (!isOver && socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close() {
      if (isOver) return;
      isOver = true;
      socket.close();
      setTimeout(() => connection?.destroy(), closeWithinMs).unref();
    },
  };
}
