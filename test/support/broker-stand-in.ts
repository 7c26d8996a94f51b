/**
 * Shared by the stand-ins of brokers: a real HTTP and WebSocket server on 127.0.0.1 that can be late, lose answers after acting, cut
 * connections and be temporarily unreachable; a test fills, ends and lists its orders.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from './json.ts';
import { type ServedSocket, serveWebSockets } from './web-socket-server.ts';

export type VenueRequest = { method: string; path: string; query: URLSearchParams; body: string; headers: IncomingMessage['headers'] };
export type VenueAnswer = { status: number; json?: unknown; text?: string; headers?: Record<string, string> };
/** `lost`: it acts, and the connection ends without an answer. `cut`: it does not act. `hang`: it acts and never answers. */
export type Fault = VenueAnswer | 'lost' | 'cut' | 'hang' | { lateMs: number };

export type StandInOrder = {
  id: string;
  ourId: string | null;
  symbol: string;
  side: 'buy' | 'sell';
  type: string;
  timeInForce: string;
  quantity: number;
  limitPrice: string | null;
  stopPrice: string | null;
  state: 'working' | 'filled' | 'cancelled' | 'rejected' | 'expired';
  reason: string | null;
  filled: number;
  value: number;
  createdAtMs: number;
  /** Not in lists yet. */
  hidden: boolean;
};
export type StandInFill = {
  id: string;
  orderId: string;
  symbol: string;
  side: 'buy' | 'sell';
  quantity: number;
  price: number;
  atMs: number;
};

export abstract class BrokerStandIn {
  readonly requests: VenueRequest[] = [];
  readonly orders: StandInOrder[] = [];
  readonly fills: StandInFill[] = [];
  /** What the next posts of orders meet, in order; null: nothing. */
  faults: (Fault | null)[] = [];
  /** Connections are cut, sockets too. */
  dark = false;
  /** Queries are refused as too many, for this number of seconds; null: they are answered. */
  busyS: number | null = null;
  cash = 100_000;
  /** Called with each new order before it is answered. */
  onMade: (order: StandInOrder) => void = () => {};
  sockets = new Set<ServedSocket>();
  private readonly server: Server;
  private made = 0;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
    this.sockets = serveWebSockets(
      this.server,
      (message, socket) => this.receive(message, socket),
      () => this.dark,
    );
  }

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.cut();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** As if it had just begun. */
  forget(): void {
    this.orders.length = this.fills.length = this.requests.length = this.faults.length = 0;
    this.dark = false;
    this.busyS = null;
    this.onMade = () => {};
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get posts(): VenueRequest[] {
    return this.requests.filter((request) => this.isOrderPost(request));
  }

  abstract rotateKeys(): void;
  protected abstract isOrderPost(request: VenueRequest): boolean;
  protected abstract answer(request: VenueRequest): VenueAnswer;
  protected abstract receive(message: Json, socket: ServedSocket): void;
  /** Notifies the sockets of an order. */
  abstract sendUpdate(order: StandInOrder): void;

  protected make(order: Omit<StandInOrder, 'id' | 'state' | 'reason' | 'filled' | 'value' | 'createdAtMs' | 'hidden'>): StandInOrder {
    const made = {
      ...order,
      id: this.newId(++this.made),
      state: 'working',
      reason: null,
      filled: 0,
      value: 0,
      createdAtMs: Date.now(),
      hidden: false,
    } as const;
    this.orders.push({ ...made });
    this.onMade(this.orders.at(-1)!);
    return this.orders.at(-1)!;
  }

  protected newId(n: number): string {
    return `venue-${n}`;
  }

  /** The market fills a part of an order. */
  fill(order: StandInOrder, quantity: number, price: number): void {
    order.filled += quantity;
    order.value += quantity * price;
    if (order.filled >= order.quantity) order.state = 'filled';
    const { id: orderId, symbol, side } = order;
    this.fills.push({ id: `trade-${this.fills.length + 1}`, orderId, symbol, side, quantity, price, atMs: Date.now() });
    this.sendUpdate(order);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, this.url);
    const received = {
      method: request.method!,
      path: url.pathname,
      query: url.searchParams,
      body: Buffer.concat(chunks).toString(),
      headers: request.headers,
    };
    if (this.dark) return void request.socket.destroy();
    this.requests.push(received);
    if (this.busyS !== null && received.method === 'GET')
      return this.reply(response, { status: 429, text: 'too many requests', headers: { 'retry-after': String(this.busyS) } });
    const fault = this.isOrderPost(received) ? (this.faults.shift() ?? null) : null;
    if (fault === 'cut') return void request.socket.destroy();
    if (fault !== null && typeof fault === 'object' && 'status' in fault) return this.reply(response, fault);
    const answer = this.answer(received);
    if (fault === 'lost') return void request.socket.destroy();
    if (fault === 'hang') return;
    if (fault !== null) await delay(fault.lateMs);
    this.reply(response, answer);
  }

  private reply(response: ServerResponse, { status, json, text, headers }: VenueAnswer): void {
    const body = json === undefined ? (text ?? '') : JSON.stringify(json);
    response.writeHead(status, { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers }).end(body);
  }
}
