/** A receiver of webhooks: stores requests in order of arrival, and answers as a test sets. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './json.ts';
import type { Scope } from './scope.ts';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string; event: Json };
export type Answer = (request: Received, response: ServerResponse) => void;

export type WebhookReceiver = {
  readonly url: string;
  /** Challenges left out. */
  readonly received: Received[];
  readonly challenges: Received[];
  /** How the next ones are answered; at first with 200. */
  answer: Answer;
  /** The same for challenges. */
  answerChallenge: Answer;
  close(): void;
};

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

export async function startReceiver(t: Scope): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const received = { path: request.url!, headers: request.headers, body, event: JSON.parse(body) };
      const isChallenge = received.event.type === 'webhook.challenge';
      (isChallenge ? receiver.challenges : receiver.received).push(received);
      (isChallenge ? receiver.answerChallenge : receiver.answer)(received, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    challenges: [],
    answer: answerWith(200),
    answerChallenge: answerWith(200),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  t.after(() => receiver.close());
  return receiver;
}
