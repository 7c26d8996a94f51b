/** Shared by all stand-ins of Stripe: a real HTTP server on 127.0.0.1, whose requests can be waited for. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.ts';

/** `object`: a session, subscription, card or authorization; in tests of refusals anything. */
export type StripeEvent = { id: string; object: 'event'; type: string; created: number; data: { object: unknown } };

export const stripeSecretKey = 'sk_test_51TroupeTestsOnly';

export abstract class StripeStandIn<R> {
  readonly requests: R[] = [];
  private readonly server: Server;
  private waiting: { path: RegExp; found: (request: R) => void }[] = [];

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  static async start<S extends Pick<StripeStandIn<never>, 'listen'>>(this: new () => S, t: Scope): Promise<S> {
    const stripe = new this();
    await stripe.listen(t);
    return stripe;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves with the next request for such a path. */
  next(path: RegExp): Promise<R> {
    return new Promise((found) => this.waiting.push({ path, found }));
  }

  protected abstract serve(request: IncomingMessage, response: ServerResponse): Promise<void>;

  protected notifyWaiting(path: string, request: R): void {
    const waited = this.waiting.filter((waiter) => waiter.path.test(path));
    this.waiting = this.waiting.filter((waiter) => !waited.includes(waiter));
    for (const { found } of waited) found(request);
  }

  async listen(t: Scope): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    t.after(() => {
      this.server.closeAllConnections();
      this.server.close();
    });
  }
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

export function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}

export function refused(status: number, code: string, param?: string): { status: number; body: object } {
  return { status, body: { error: { type: 'invalid_request_error', code, param, message: `Refused with ${stripeSecretKey}` } } };
}
