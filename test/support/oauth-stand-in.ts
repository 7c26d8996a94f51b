/**
 * A stand-in of a service with its token endpoint: codes and tokens are accepted once, refresh tokens rotate, and a test sets faults.
 * Its API answers every request with a valid token.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.ts';

export type Received = { method: string; path: string; headers: IncomingMessage['headers']; form: Record<string, string>; text: string };
export type Given = { status?: number; json?: unknown; text?: string; headers?: Record<string, string> } | 'hang' | 'cut';

export class OAuthStandIn {
  readonly tokenRequests: Received[] = [];
  readonly revocations: Received[] = [];
  readonly apiRequests: Received[] = [];
  /** What the next token requests meet in place of an answer. */
  tokenFaults: Given[] = [];
  revokeFaults: Given[] = [];
  apiFaults: Given[] = [];
  /** Access tokens that the API takes. */
  readonly taken = new Set<string>();
  /** In place of `taken`: another server's tokens. */
  takes: ((token: string) => Promise<boolean>) | null = null;
  readonly refreshTokens = new Set<string>();
  expiresIn: number | undefined = 3_600;
  scope: string | undefined = 'repo';
  rotates = true;
  withRefresh = true;
  /** Called when a token answer is about to be sent. */
  beforeTokenAnswer: () => Promise<void> | void = () => {};
  private n = 0;
  private readonly server = createServer((request, response) => void this.serve(request, response));

  static async start(t: Scope): Promise<OAuthStandIn> {
    const standIn = new OAuthStandIn();
    standIn.server.listen(0, '127.0.0.1');
    await once(standIn.server, 'listening');
    t.after(() => {
      standIn.server.closeAllConnections();
      standIn.server.close();
    });
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Settings of the service under which this stands for it. */
  env(service: string): Record<string, string> {
    const name = service.toUpperCase();
    return {
      [`${name}_CLIENT_ID`]: `client-of-${service}`,
      [`${name}_CLIENT_SECRET`]: `secret-of-${service}`,
      [`${name}_API_URL`]: `${this.url}/api`,
      [`${name}_AUTHORIZE_URL`]: `${this.url}/authorize`,
      [`${name}_TOKEN_URL`]: `${this.url}/token`,
      [`${name}_REVOKE_URL`]: `${this.url}/revoke`,
    };
  }

  get last(): Received {
    return this.tokenRequests.at(-1)!;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = request.url!;
    const isForm = /x-www-form-urlencoded/.test(String(request.headers['content-type']));
    const form = isForm ? Object.fromEntries(new URLSearchParams(text)) : {};
    const received: Received = { method: request.method!, path, headers: request.headers, form, text };
    const [log, faults] = path.startsWith('/token')
      ? [this.tokenRequests, this.tokenFaults]
      : path.startsWith('/revoke')
        ? [this.revocations, this.revokeFaults]
        : [this.apiRequests, this.apiFaults];
    log.push(received);
    const fault = faults.shift();
    const given =
      fault ?? (log === this.tokenRequests ? this.token(received) : log === this.revocations ? { json: {} } : await this.api(received));
    if (given === 'hang') return;
    if (given === 'cut') return void request.socket.destroy();
    if (log === this.tokenRequests) await this.beforeTokenAnswer();
    const { status = 200, json, text: raw, headers = {} } = given;
    response.writeHead(status, { 'content-type': json === undefined ? 'text/html' : 'application/json', ...headers });
    response.end(json === undefined ? (raw ?? '') : JSON.stringify(json));
  }

  private token({ form }: Received): Given {
    if (form.grant_type === 'refresh_token') {
      if (!this.refreshTokens.has(form.refresh_token!)) return { status: 400, json: { error: 'invalid_grant' } };
      if (this.rotates) this.refreshTokens.delete(form.refresh_token!);
    } else if (!form.code?.startsWith('good')) return { status: 400, json: { error: 'invalid_grant' } };
    const access = `access-${++this.n}-${createHash('sha256').update(String(this.n)).digest('hex').slice(0, 8)}`;
    this.taken.add(access);
    const isRotated = form.grant_type !== 'refresh_token' || this.rotates;
    const refresh = this.withRefresh && isRotated ? `refresh-${this.n}` : undefined;
    if (refresh !== undefined) this.refreshTokens.add(refresh);
    const answer = { access_token: access, token_type: 'bearer', refresh_token: refresh, expires_in: this.expiresIn, scope: this.scope };
    return { json: answer };
  }

  private async api({ headers, path }: Received): Promise<Given> {
    const token = /^Bearer (.*)$/.exec(String(headers.authorization))?.[1] ?? '';
    if (/^\/api\/applications\//.test(path)) return { status: 204 };
    if (!(await (this.takes?.(token) ?? this.taken.has(token)))) return { status: 401, json: { message: 'Bad credentials' } };
    return {
      json: { number: 1, title: 'It broke', state: 'open', user: { login: 'ann' }, labels: [], comments: 0, body: 'It broke', id: '1' },
    };
  }
}
