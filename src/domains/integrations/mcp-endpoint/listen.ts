/**
 * `subscriptions/listen` for tasks: sends a client each new state of its tasks, until they have ended. A stream contains states, not
 * events: of several states while the client reads slowly, only the last is sent.
 */
import { Readable } from 'node:stream';
import type { HttpResponse } from '../../../edge/http/message.ts';
import type { EventFeed, FeedHandle } from '../../../edge/stream/event-feed.ts';
import type { Session } from './call-tool.ts';
import type { RequestId } from './message.ts';
import { detailedTask } from './task-extension.ts';

export type ListenParts = {
  feed: EventFeed;
  newestSeq(accountId: string): Promise<number>;
  /** The `_meta` of results, as JSON without braces. */
  serverMeta: string;
};

/** Tasks of one stream. */
export const maxTaskIds = 50;
/** An agent's event comes before its task's state: the state is read a little later, and once more for the last event of many. */
const readAfterMs = [50, 1_000] as const;
/** The interval of keep-alives to the client and of checks of the token. */
const keepAliveMs = 15_000;
const checkTokenMs = 500;

/** The streams of a node. */
export class TaskStreams {
  private readonly open = new Set<TaskStream>();
  private isLeaving = false;
  private readonly parts: ListenParts;

  constructor(parts: ListenParts) {
    this.parts = parts;
  }

  /** The answer, which begins with the tasks that the caller may see and their states. */
  async listen(session: Session, id: RequestId, taskIds: readonly string[]): Promise<HttpResponse> {
    const newest = await this.parts.newestSeq(session.principal.accountId);
    const stream = new TaskStream(this.parts, session, id);
    await stream.begin([...new Set(taskIds)], newest);
    if (this.isLeaving) stream.end();
    this.open.add(stream);
    stream.body.once('close', () => this.open.delete(stream));
    return { status: 200, headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache, no-transform' }, body: stream.body };
  }

  /** Clients are notified that their streams are complete, and may open others on another node. */
  leave(): void {
    this.isLeaving = true;
    for (const stream of this.open) stream.end();
  }
}

class TaskStream {
  readonly body = new Readable({ read: () => this.resume() });
  private readonly parts: ListenParts;
  private readonly session: Session;
  private readonly meta: string;
  private readonly id: string;
  /** Text of the last state sent, by task; without those that have ended. */
  private readonly sent = new Map<string, string>();
  /** Tasks whose state may have changed. */
  private readonly stale = new Set<string>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly pulses: NodeJS.Timeout[] = [];
  private handle: FeedHandle | null = null;
  private hasRoom = true;
  private isReading = false;
  private hasEnded = false;

  constructor(parts: ListenParts, session: Session, id: RequestId) {
    this.parts = parts;
    this.session = session;
    this.id = JSON.stringify(id);
    this.meta = `"io.modelcontextprotocol/subscriptionId":${this.id}`;
    this.body.once('close', () => this.stop());
  }

  async begin(taskIds: readonly string[], newest: number): Promise<void> {
    const states = await Promise.all(taskIds.map((taskId) => this.stateOf(taskId)));
    const seen = taskIds.filter((_, i) => 'fields' in states[i]!);
    this.notify('notifications/subscriptions/acknowledged', `"notifications":{"taskIds":${JSON.stringify(seen)}}`);
    for (const taskId of seen) this.sent.set(taskId, '');
    for (const taskId of seen) this.stale.add(taskId);
    await this.sendStale();
    if (this.hasEnded) return;
    const take = ({ taskId }: { taskId: string | null }) => {
      if (taskId !== null && this.sent.has(taskId)) this.readSoon(taskId);
    };
    this.handle = this.parts.feed.open(this.session.principal.accountId, newest, { take, hasCapacity: () => true });
    this.pulses.push(
      setInterval(() => this.body.push(': keepalive\n\n'), keepAliveMs),
      setInterval(() => void this.checkToken(), checkTokenMs),
    );
  }

  /** Ends the stream as the protocol requires. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.push(`{"jsonrpc":"2.0","id":${this.id},"result":{"resultType":"complete","_meta":{${this.meta},${this.parts.serverMeta}}}}`);
    this.body.push(null);
    this.stop();
  }

  private stop(): void {
    this.hasEnded = true;
    this.handle?.close();
    for (const pulse of this.pulses) clearInterval(pulse);
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private resume(): void {
    this.hasRoom = true;
    void this.sendStale();
  }

  private readSoon(taskId: string): void {
    for (const ms of readAfterMs) {
      const name = `${taskId} ${ms}`;
      // Each event postpones the later read, but not the earlier one, so that a busy task is read too.
      if (ms !== readAfterMs[0]) clearTimeout(this.timers.get(name));
      else if (this.timers.has(name)) continue;
      const read = () => {
        this.timers.delete(name);
        this.stale.add(taskId);
        void this.sendStale();
      };
      this.timers.set(name, setTimeout(read, ms));
    }
  }

  private async sendStale(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    try {
      for (let [taskId] = this.stale; taskId !== undefined && this.hasRoom && !this.hasEnded; [taskId] = this.stale) {
        this.stale.delete(taskId);
        await this.sendState(taskId);
      }
    } finally {
      this.isReading = false;
    }
    if (this.sent.size === 0) this.end();
  }

  private async sendState(taskId: string): Promise<void> {
    const state = await this.stateOf(taskId);
    if (this.hasEnded || !this.sent.has(taskId)) return;
    // Deleted, or temporarily unreadable: its next event triggers another read.
    if ('error' in state || state.fields === this.sent.get(taskId)) return;
    this.sent.set(taskId, state.fields);
    this.notify('notifications/tasks', state.fields);
    if (state.hasEnded === true) this.sent.delete(taskId);
  }

  private stateOf(taskId: string): ReturnType<typeof detailedTask> {
    return detailedTask({ ...this.session, calls: 0 }, taskId);
  }

  private notify(method: string, fields: string): void {
    this.push(`{"jsonrpc":"2.0","method":"${method}","params":{${fields},"_meta":{${this.meta}}}}`);
  }

  private push(message: string): void {
    this.hasRoom = this.body.push(`event: message\ndata: ${message}\n\n`);
  }

  /** A token that was revoked or has expired may no longer read. */
  private async checkToken(): Promise<void> {
    // Streams continue while the database does not answer.
    if (!(await this.session.isStillValid().catch(() => true))) this.body.destroy();
  }
}
