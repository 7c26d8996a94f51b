/** Plain HTTP requests whose paths, headers and bodies are sent unchanged: `fetch` would correct many hostile values. */
import { Agent, request as httpRequest } from 'node:http';
import type { Json } from './json.ts';

export type Sent = { method: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array; chunked?: boolean };
export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string; json: Json };

export class HttpClient {
  private readonly url: () => string;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(url: () => string) {
    this.url = url;
  }

  /** The answer, even where the server refused the body before all of it was sent. */
  send({ method, path, headers = {}, body, chunked = false }: Sent): Promise<Answer> {
    const { hostname, port } = new URL(this.url());
    const length = body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, method, path, agent: this.agent, headers: { ...length, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = /^application\/json/.test(String(response.headers['content-type']));
          resolve({ status: response.statusCode!, headers: response.headers, text, json: isJson && text !== '' ? JSON.parse(text) : null });
        });
      });
      request.on('error', reject);
      if (chunked) request.write(body ?? '');
      request.end(chunked ? undefined : body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
