/** A web site of a test: pages by path, on any loopback address, with a record of the requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

export class WebSite {
  readonly url: string;
  /** Paths, in order. */
  readonly asked: string[];
  private readonly server: Server;

  private constructor(url: string, server: Server, asked: string[]) {
    this.url = url;
    this.server = server;
    this.asked = asked;
  }

  /** @param pages a text is sent as HTML */
  static async open(pages: Record<string, Page>, host = '127.0.0.1'): Promise<WebSite> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const path = new URL(request.url!, 'http://site').pathname;
      asked.push(path);
      const page = pages[path];
      if (page === undefined) response.writeHead(404).end('nothing here');
      else if (typeof page === 'function') page(request, response);
      else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    });
    await once(server.listen(0, host), 'listening');
    const { port } = server.address() as AddressInfo;
    return new WebSite(`http://${host}:${port}`, server, asked);
  }

  onUpgrade(listener: () => void): void {
    this.server.on('upgrade', (_request, socket) => {
      listener();
      socket.destroy();
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
