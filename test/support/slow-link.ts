/** A slow connection to a server: every byte is delayed in both directions, in order. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Scope } from './scope.ts';

export type SlowLink = {
  /** The server's address by way of this link. */
  url: string;
  /** How long bytes wait, each way; may be changed at any time. */
  delayMs: number;
};

/** A link to the server at `target` that is there as long as the test. */
export async function slowLink(t: Scope, target: string): Promise<SlowLink> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const link: SlowLink = { url: '', delayMs: 0 };
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    // Not overtaken by what comes later, when the delay is made shorter.
    let lastMs = 0;
    from.on('data', (chunk) => {
      lastMs = Math.max(lastMs, performance.now() + link.delayMs);
      setTimeout(() => to.destroyed || to.write(chunk), lastMs - performance.now());
    });
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  link.url = url.href;
  t.after(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return link;
}
