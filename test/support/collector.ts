/** An OpenTelemetry collector for tests: a real HTTP server that reads OTLP's JSON and keeps the spans. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.ts';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
  /** Of who sent it. */
  resource: Record<string, unknown>;
};

export type Collector = {
  url: string;
  spans: ReceivedSpan[];
  requests: { path: string; headers: Record<string, unknown> }[];
  /** Statuses to answer the next requests with, in order; 200 when there are none. Null: no answer at all. */
  answers: (number | null)[];
};

export async function startCollector(t: Scope): Promise<Collector> {
  const collector: Collector = { url: '', spans: [], requests: [], answers: [] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    collector.requests.push({ path: request.url!, headers: request.headers });
    const status = collector.answers.length === 0 ? 200 : collector.answers.shift()!;
    if (status === null) return void request.socket.destroy();
    if (status === 200) collector.spans.push(...read(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return collector;
}

/** OTLP's JSON, as far as it is read here. */
type Exported = { resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: ExportedSpan[] }[] }[] };
type ExportedSpan = Omit<ReceivedSpan, 'attributes' | 'resource'> & { attributes: Attributes };
type Attributes = { key: string; value: Record<string, unknown> }[];

function read(body: Exported): ReceivedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ ...span, attributes: plain(span.attributes), resource: plain(resource.attributes) })),
    ),
  );
}

function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
