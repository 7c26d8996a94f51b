/** A WebSocket through the agent that has checked its address. Errors of the library are reported as one `closed`. */
import { type Dispatcher, WebSocket } from 'undici';
import type { OutboundSocket, SocketListener } from './port.ts';

export function openSocket({ href }: URL, dispatcher: Dispatcher, listener: SocketListener): OutboundSocket {
  const socket = new WebSocket(href.replace(/^http/, 'ws'), { dispatcher, headers: { 'user-agent': 'Troupe/0.1' } });
  socket.binaryType = 'arraybuffer';
  let isOver = false;
  const end = (reason: string) => {
    if (isOver) return;
    isOver = true;
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
      isOver = true;
      socket.close();
    },
  };
}
