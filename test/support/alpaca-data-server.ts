/**
 * A real HTTP server on 127.0.0.1 that answers as Alpaca's market data API does by its OpenAPI (market data 1.1): latest quotes, bars in pages, corporate actions.
 * Read from the documents, not recorded from the vendor.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DataRequest = { path: string; query: Record<string, string>; keyId: string | undefined; secret: string | undefined };
export type VendorBar = { t: string; o: number; h: number; l: number; c: number; v: number; n?: number; vw?: number };
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

export class AlpacaDataServer {
  readonly requests: DataRequest[] = [];
  /** By the vendor's symbol: `AAPL`, `BTC/USD`. */
  readonly quotes = new Map<string, object>();
  /** By symbol and the vendor's timeframe: `AAPL 1Min`. */
  readonly bars = new Map<string, VendorBar[]>();
  actions: object = {};
  /** What the next requests meet instead of an answer. `hang`: nothing comes. */
  failures: (Answer | 'hang' | 'reset')[] = [];
  /** At most this many bars a page, also if more are requested: the vendor may return fewer. */
  pageBars = 10_000;
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async start(): Promise<AlpacaDataServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stand = new AlpacaDataServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => stand.answer(request, response));
    return stand;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, this.url);
    const query = Object.fromEntries(url.searchParams);
    const header = (name: string) => request.headers[name] as string | undefined;
    const asked = {
      path: decodeURIComponent(url.pathname),
      query,
      keyId: header('apca-api-key-id'),
      secret: header('apca-api-secret-key'),
    };
    this.requests.push(asked);
    const failure = this.failures.shift();
    if (failure === 'hang') return;
    if (failure === 'reset') return void request.socket.destroy();
    const { status, body, headers } = failure ?? this.answerTo(asked);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-limit': '200', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  private answerTo({ path, query, keyId, secret }: DataRequest): Answer {
    if (keyId === undefined || secret === undefined) return { status: 401, body: { message: 'unauthorized.' } };
    if (keyId !== 'PKTEST' || secret !== 'secret') return { status: 403, body: { message: 'forbidden.' } };
    const stock = /^\/v2\/stocks\/([^/]+)\/quotes\/latest$/.exec(path)?.[1];
    if (stock !== undefined) {
      const quote = this.quotes.get(stock);
      return quote === undefined ? { status: 404, body: { message: 'no quote found' } } : { status: 200, body: { symbol: stock, quote } };
    }
    const symbols = (query.symbols ?? '').split(',');
    if (path === '/v1beta3/crypto/us/latest/quotes') {
      const quotes = Object.fromEntries(symbols.flatMap((symbol) => (this.quotes.has(symbol) ? [[symbol, this.quotes.get(symbol)]] : [])));
      return { status: 200, body: { quotes } };
    }
    if (path === '/v1/corporate-actions') return { status: 200, body: { corporate_actions: this.actions, next_page_token: null } };
    if (path === '/v2/stocks/bars' || path === '/v1beta3/crypto/us/bars') return this.page(symbols[0]!, query);
    return { status: 404, body: { message: 'Not Found' } };
  }

  private page(symbol: string, query: Record<string, string>): Answer {
    const { timeframe = '', start = '', end = '9999', limit = '1000', page_token: token } = query;
    const all = (this.bars.get(`${symbol} ${timeframe}`) ?? []).filter(({ t }) => t >= start && t <= end);
    const from = token === undefined ? 0 : Number(Buffer.from(token, 'base64').toString());
    const to = Math.min(all.length, from + Math.min(Number(limit), this.pageBars));
    const next = to < all.length ? Buffer.from(String(to)).toString('base64') : null;
    return { status: 200, body: { bars: all.length === 0 ? {} : { [symbol]: all.slice(from, to) }, next_page_token: next } };
  }
}
