/**
 * The edge of one node of a cluster: real sockets, hub and relay on a real database, with peers in the same process. Commits are made by
 * SQL, with and without a notification, like a node's own and in the order of their numbers.
 */
import { randomUUID } from 'node:crypto';
import type { Member } from '../../src/cluster/member.ts';
import type { Peers } from '../../src/cluster/peers.ts';
import type { Principal } from '../../src/edge/auth/principal.ts';
import { createServer, type HttpServer } from '../../src/edge/http/server.ts';
import { EventRelay } from '../../src/edge/stream/event-relay.ts';
import { Stream } from '../../src/edge/stream/stream.ts';
import { type CommittedEvent, StreamHub } from '../../src/edge/stream/stream-hub.ts';
import { noLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { PeerNetwork } from './linked-peers.ts';
import { eventCatalogue } from './product-events.ts';
import { StreamClient } from './stream-client.ts';

export type Committed = { events: CommittedEvent[]; seqs: number[] };
export type EdgeNodeOptions = { database: Database; pollEveryMs?: number; missingForMs?: number; compression?: boolean };

/** Nodes that know each other; all are notified at once when one joins or leaves. */
export class EdgeCluster {
  readonly network = new PeerNetwork();
  readonly nodes: EdgeNode[] = [];
  private readonly options: EdgeNodeOptions;

  constructor(options: EdgeNodeOptions) {
    this.options = options;
  }

  async add(): Promise<EdgeNode> {
    const name = `node-${this.nodes.length}`;
    const member: Member = {
      incarnation: `${name}/${randomUUID()}`,
      name,
      host: '127.0.0.1',
      port: 0,
      roles: ['edge', 'actors'],
      leaving: false,
    };
    const node = await EdgeNode.start(member, this.network.join(member), this.options);
    this.nodes.push(node);
    this.announce();
    return node;
  }

  /** Ends the node without a notification of the others. */
  async kill(node: EdgeNode): Promise<void> {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.network.leave(node.incarnation);
    this.announce();
    await node.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  private announce(): void {
    for (const node of this.nodes) node.setMembers(this.nodes.filter((other) => other !== node).map(({ member }) => member));
  }
}

export class EdgeNode {
  readonly member: Member;
  readonly hub: StreamHub;
  readonly relay: EventRelay;
  readonly stream: Stream;
  readonly server: HttpServer;
  readonly port: number;
  private readonly peers: Peers;
  private readonly database: Database;

  private constructor(parts: Pick<EdgeNode, 'member' | 'hub' | 'relay' | 'stream' | 'server' | 'port'>, peers: Peers, database: Database) {
    this.member = parts.member;
    this.hub = parts.hub;
    this.relay = parts.relay;
    this.stream = parts.stream;
    this.server = parts.server;
    this.port = parts.port;
    this.peers = peers;
    this.database = database;
  }

  static async start(member: Member, peers: Peers, options: EdgeNodeOptions): Promise<EdgeNode> {
    const { database, pollEveryMs, missingForMs, compression } = options;
    const hub = new StreamHub(database, noLog, { missingForMs });
    const relay = new EventRelay({ peers, hub, database, log: noLog, pollEveryMs });
    const stream = new Stream({
      hub,
      eventCatalogue,
      database,
      authenticate: principalOf,
      isStillValid: () => true,
      retentionDays: 7,
      log: noLog,
    });
    const server = await createServer({
      handler: () => ({ status: 404, headers: null, body: null }),
      log: noLog,
      maxHeaderBytes: 16_384,
      accessLog: false,
    });
    server.webSocket('/ws', stream, { maxMessageBytes: 65_536, maxBufferedBytes: 1_048_576, idleTimeoutS: 120, compression });
    const { port } = await server.listen('127.0.0.1', 0);
    return new EdgeNode({ member, hub, relay, stream, server, port }, peers, database);
  }

  get incarnation(): string {
    return this.member.incarnation;
  }

  setMembers(members: readonly Member[]): void {
    this.peers.setMembers(members);
    this.relay.setMembers(members);
  }

  /** Writes events as a commit does, without a notification. */
  async commit(accountId: string, count: number, more: object = {}): Promise<Committed> {
    const { rows } = await this.database.read({
      text: `with counted as (insert into event_counter as c (account_id, last_seq) values ($1, $2) on conflict (account_id) do update set last_seq = c.last_seq + excluded.last_seq returning last_seq)
        insert into event (account_id, seq, id, type, task_id, data, created_at)
        select $1, last_seq - $2 + n, 'evt_' || gen_random_uuid(), 'task.running', 'task_1', (jsonb_build_object('by', $3::text, 'n', n) || $4)::json, now()
        from counted, generate_series(1, $2::int) n returning seq, id, data::text as data, created_at as "createdAt"`,
      values: [accountId, count, this.member.name, more],
    });
    rows.sort((a, b) => a.seq - b.seq);
    return {
      events: rows.map(({ id, data, createdAt }) => ({
        accountId,
        id,
        type: 'task.running',
        taskId: 'task_1',
        data: { text: data },
        createdAt,
      })),
      seqs: rows.map(({ seq }) => seq),
    };
  }

  publish({ events, seqs }: Committed): void {
    this.relay.publish(events, seqs);
  }

  /** An authenticated client. The token names the account. */
  async subscribe(accountId: string, resumeFrom?: number): Promise<StreamClient> {
    const client = await StreamClient.open(this.port);
    client.send({ type: 'auth', token: accountId, resume_from: resumeFrom });
    await client.untilMessage('auth_ok');
    return client;
  }

  async close(): Promise<void> {
    this.relay.stop();
    this.stream.disconnectAll(0);
    await this.server.close(0);
  }
}

async function principalOf(token: string): Promise<Principal> {
  return { accountId: token, userId: 'usr_1', kind: 'session', scopes: 'all', mode: 'live', id: `ses_${token}` };
}
