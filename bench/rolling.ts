/**
 * Three nodes are restarted one after the other, as a deploy does it, under load from behind a balancer that knows of them only what
 * `/health/ready` says: how many of 100,000 requests fail, and how many events 1,000 sockets miss.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { Balancer } from '../scripts/cluster/balancer.ts';
import { ClusterProcesses } from '../test/support/cluster-processes.ts';
import { Caller } from '../test/support/service.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

const requestCount = 100_000;
const socketCount = 1_000;
const customerCount = 20;
const connections = 48;
const workspacesOfACustomer = 15;
/** One of this many requests is a command that emits an event. */
const writeEvery = 200;
const reconnectMs = 20;

type Customer = { caller: Caller; paths: string[]; workspace: string };

export async function benchRolling(surroundings: Surroundings): Promise<Row[]> {
  const cluster = await ClusterProcesses.start({
    nodes: 3,
    redis: true,
    postgres: { url: await surroundings.emptyDatabase() },
    links: false,
  });
  const balancer = await Balancer.listen('127.0.0.1', 0);
  const agent = new Agent({ connections, pipelining: 1 });
  const sockets: Follower[] = [];
  try {
    for (const node of cluster.nodes) balancer.add(node.name, node.url);
    await balancer.untilReady(3, AbortSignal.timeout(30_000));
    const customers = await Promise.all(Array.from({ length: customerCount }, () => customerOf(balancer.url)));
    for (let n = 0; n < socketCount; n++) sockets.push(new Follower(balancer.url, customers[n % customerCount]!.caller.token));
    await Promise.all(sockets.map((socket) => socket.opened));

    let rolled = false;
    const rolling = (async () => {
      for (const node of cluster.nodes) {
        const { code } = await node.term();
        balancer.remove(node.name);
        if (code !== 0) throw new Error(`${node.name} ended with ${code}: ${node.log.slice(-2_000)}`);
        await node.start();
        balancer.add(node.name, node.url);
        await balancer.untilReady(3, AbortSignal.timeout(60_000));
      }
      rolled = true;
    })();
    const failures: string[] = [];
    let sent = 0;
    const loops = Array.from({ length: connections }, async () => {
      for (let n = sent++; n < requestCount || !rolled; n = sent++) {
        const failure = await one(agent, balancer.url, customers[n % customerCount]!, n);
        if (failure !== null) failures.push(failure);
      }
    });
    await Promise.all([rolling, ...loops]);
    await Promise.all(
      customers.map(async ({ caller }, n) => {
        const newest = (await caller.events()).at(-1)?.seq ?? 0;
        await Promise.all(sockets.filter((_, i) => i % customerCount === n).map((socket) => socket.until(newest)));
      }),
    );
    const gaps = sockets.reduce((sum, socket) => sum + socket.gaps, 0);
    const events = sockets.reduce((sum, socket) => sum + socket.events, 0);
    for (const failure of new Set(failures)) console.error(`  failed: ${failure}`);
    const row = (what: string, unit: string, ours: number, limit: number) =>
      makeRow({ bench: 'rolling', row: what, unit, ours, limit, reach: { atMost: 0 } });
    return [
      row('requests failed while 3 nodes restart', 'requests', failures.length, sent),
      row(`events missed by ${socketCount} sockets`, 'events', gaps, events),
    ];
  } finally {
    for (const socket of sockets) socket.close();
    await agent.close();
    await balancer.close();
    await cluster.close();
  }
}

async function customerOf(url: string): Promise<Customer> {
  const caller = await Caller.register({ url });
  const paths: string[] = [];
  for (let n = 0; n < workspacesOfACustomer; n++)
    paths.push(`/v1/workspaces/${(await caller.json('POST', '/v1/workspaces', { name: `w${n}` })).id}`);
  return { caller, paths, workspace: paths[0]! };
}

/** Null, or how it failed. Nothing is sent again. */
async function one(agent: Agent, url: string, { caller, paths, workspace }: Customer, n: number): Promise<string | null> {
  const authorization = `Bearer ${caller.token}`;
  try {
    if (n % writeEvery !== 0) {
      const { statusCode, body } = await request(url + paths[n % paths.length], { dispatcher: agent, headers: { authorization } });
      const text = await body.text();
      return statusCode === 200 ? null : `${statusCode} ${text.slice(0, 200)}`;
    }
    const boundary = `bench${n}`;
    const content = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="notes.txt"\r\n\r\nnote ${n}\r\n--${boundary}--\r\n`;
    const headers = { authorization, 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': randomUUID() };
    const { statusCode, body } = await request(`${url}${workspace}/files`, { method: 'POST', dispatcher: agent, headers, body: content });
    const text = await body.text();
    return statusCode === 201 ? null : `${statusCode} ${text.slice(0, 200)}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** One socket that resumes wherever it was cut, and counts what it missed. */
class Follower {
  gaps = 0;
  events = 0;
  readonly opened: Promise<void>;
  private position = -1;
  private socket: WebSocket | null = null;
  private closing = false;
  private waiting: { seq: number; resolve(): void }[] = [];

  constructor(url: string, token: string) {
    this.opened = new Promise((resolve) => this.connect(url, token, resolve));
  }

  /** Resolves when it has the event of that number. */
  until(seq: number): Promise<void> {
    return this.position >= seq ? Promise.resolve() : new Promise((resolve) => this.waiting.push({ seq, resolve }));
  }

  close(): void {
    this.closing = true;
    this.socket?.close();
  }

  private connect(url: string, token: string, onOpen: () => void): void {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`);
    this.socket = socket;
    socket.onopen = () =>
      socket.send(JSON.stringify({ type: 'auth', token, ...(this.position < 0 ? {} : { resume_from: this.position }) }));
    socket.onerror = () => {};
    socket.onclose = () => {
      if (!this.closing) setTimeout(() => this.connect(url, token, onOpen), reconnectMs);
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data));
      if (message.type === 'auth_ok') {
        if (this.position < 0) this.position = message.seq;
        onOpen();
      }
      if (message.type === 'reset') this.gaps++;
      if (message.type !== 'event') return;
      this.events++;
      const { seq } = message.event;
      if (message.prev !== this.position || seq !== this.position + 1) this.gaps += Math.max(1, Math.abs(seq - this.position - 1));
      this.position = seq;
      for (const { resolve } of this.waiting.filter((one) => one.seq <= seq)) resolve();
      this.waiting = this.waiting.filter((one) => one.seq > seq);
    };
  }
}
