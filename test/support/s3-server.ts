/**
 * A small object store with the S3 API over HTTP: put, get with ranges, list, delete, multipart. It keeps bytes in memory and can be set to
 * fail.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `error`: 500. `cut`: the connection is cut in the middle of the answer. */
export type Misbehaviour = { method: string; how: 'error' | 'cut'; times: number };

export class S3Server {
  readonly objects = new Map<string, Buffer>();
  /** Uploads begun and neither completed nor aborted: they cost their owner money. */
  readonly openUploads = new Map<string, Map<number, Buffer>>();
  readonly requests: string[] = [];
  misbehave: Misbehaviour | null = null;
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<S3Server> {
    const s3 = new S3Server();
    await new Promise<void>((resolve) => s3.server.listen(0, '127.0.0.1', resolve));
    return s3;
  }

  get url(): string {
    return `s3://key:${encodeURIComponent('se/cr+et')}@127.0.0.1:${(this.server.address() as AddressInfo).port}/bucket`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://s3');
    const key = decodeURIComponent(url.pathname);
    this.requests.push(`${request.method} ${url.pathname}`);
    const body = await readBody(request);
    const failure = this.misbehave;
    if (failure !== null && failure.method === request.method && failure.times > 0) {
      failure.times--;
      if (failure.how === 'error') return void response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
      response.writeHead(200, { 'content-length': 1_000_000 });
      response.write(Buffer.alloc(1000));
      return void setImmediate(() => response.destroy());
    }
    if (!isSigned(request, url)) return void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    const upload = url.searchParams.get('uploadId');
    if (request.method === 'POST' && url.searchParams.has('uploads')) return this.begin(response);
    if (request.method === 'PUT' && upload !== null) return this.part(response, upload, Number(url.searchParams.get('partNumber')), body);
    if (request.method === 'POST' && upload !== null) return this.complete(response, upload, key);
    if (request.method === 'DELETE' && upload !== null) {
      this.openUploads.delete(upload);
      return void response.writeHead(204).end();
    }
    if (request.method === 'PUT') {
      this.objects.set(key, body);
      return void response.writeHead(200, { etag: etag(body) }).end();
    }
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (url.searchParams.get('list-type') === '2') return this.list(response, url);
    this.get(response, url, key, request.headers.range, request.method === 'HEAD');
  }

  /** Two a page, so that listings have several. */
  private list(response: ServerResponse, url: URL): void {
    const prefix = '/bucket/';
    const after = url.searchParams.get('continuation-token') ?? '';
    const left = [...this.objects.keys()]
      .map((path) => path.slice(prefix.length))
      .filter((key) => key > after)
      .sort();
    const page = left.slice(0, 2);
    const contents = page.map((key) => `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified></Contents>`);
    const next = left.length > 2 ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page[1]}</NextContinuationToken>` : '';
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(`<ListBucketResult>${contents.join('')}${next}</ListBucketResult>`);
  }

  private begin(response: ServerResponse): void {
    const id = randomUUID();
    this.openUploads.set(id, new Map());
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  private part(response: ServerResponse, upload: string, number: number, body: Buffer): void {
    this.openUploads.get(upload)!.set(number, body);
    response.writeHead(200, { etag: etag(body) }).end();
  }

  private complete(response: ServerResponse, upload: string, key: string): void {
    const parts = [...this.openUploads.get(upload)!].sort(([a], [b]) => a - b);
    this.objects.set(key, Buffer.concat(parts.map(([, bytes]) => bytes)));
    this.openUploads.delete(upload);
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
  }

  private get(response: ServerResponse, url: URL, key: string, range: string | undefined, head: boolean): void {
    const bytes = this.objects.get(key);
    if (bytes === undefined)
      return void response.writeHead(404, { 'content-type': 'application/xml' }).end(head ? '' : '<Error><Code>NoSuchKey</Code></Error>');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const part = first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1);
    const headers: Record<string, string | number> = { 'content-length': part.length, etag: etag(bytes) };
    for (const name of ['content-type', 'content-disposition']) {
      const wanted = url.searchParams.get(`response-${name}`);
      if (wanted !== null) headers[name] = wanted;
    }
    response.writeHead(first === undefined ? 200 : 206, headers).end(head ? undefined : part);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function isSigned(request: IncomingMessage, url: URL): boolean {
  const credential = url.searchParams.get('X-Amz-Credential') ?? request.headers.authorization ?? '';
  return /(^|Credential=)key\//.test(credential);
}

function etag(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
