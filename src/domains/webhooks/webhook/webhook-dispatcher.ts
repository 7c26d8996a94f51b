/**
 * Delivers the events of one webhook, on its actor's node, and reports deliveries to the actor in batches. Its state is soft: the actor's
 * row has the position to continue from, and unreported deliveries are repeated under the same message id.
 *
 * C1 At most `maxUnreported` deliveries are in progress or not yet committed: a crash repeats no more.
 * C2 A receiver that fails or hangs gets fewer concurrent requests, down to one, and more again with each success.
 */

import type { FeedEvent, FeedHandle } from '../../../edge/stream/event-feed.ts';
import { AppError } from '../../../errors.ts';
import { attempt, type Outcome, type Receiver } from './attempt.ts';
import type { DeliverySemaphore } from './delivery-semaphore.ts';
import type { WebhookRow } from './entity.ts';
import { challengeType, type DeliveryRecord, isDelivering, type Progress, webhook } from './messages.ts';
import { oldSecretsOf } from './old-secrets.ts';
import { type OrderedQueue, OrderedQueues, type QueueMemory, queueEvents } from './ordered-queues.ts';
import type { WebhookDispatchersParts } from './webhook-dispatchers.ts';

const maxUnreported = 128;
const maxAtOnce = 16;
const atOnceFirst = 4;
/** Deliveries within this time are reported together. */
const reportAfterMs = 50;
/** Without deliveries, the cursor is reported after this many skipped events. */
const reportEveryEvents = 1_000;
const retryMs = 1_000;
const defaultTimeoutMs = 10_000;
const maxWaitMs = 60_000;

type RequestedDelivery = WebhookRow['asked'][number];

export class WebhookDispatcher {
  readonly id: string;
  readonly shard: number;
  private readonly parts: WebhookDispatchersParts;
  private readonly semaphore: DeliverySemaphore;
  private readonly memory: QueueMemory;
  private row: WebhookRow | null = null;
  private receiver: Receiver & { origin: string } = { url: '', origin: '', keys: [] };
  /** When the first of the old keys expires. */
  private keysUntil = Number.POSITIVE_INFINITY;
  private queues = new OrderedQueues(0, []);
  private feed: FeedHandle | null = null;
  private atOnce = atOnceFirst;
  private inProgress = 0;
  private unreported: DeliveryRecord[] = [];
  /** Likewise for deliveries that were requested by hand. */
  private readonly byHand = new Map<string, DeliveryRecord>();
  private disable: Progress['disable'] = null;
  private reportedCursor = 0;
  private readonly inFlight = new Set<string>();
  private reporting = false;
  private lastRead = 0;
  private reportTimer: NodeJS.Timeout | null = null;
  private wakeTimer: NodeJS.Timeout | null = null;
  private againTimer: NodeJS.Timeout | null = null;
  private state: 'working' | 'finishing' | 'ended' = 'working';
  private readonly idle: (() => void)[] = [];
  private readonly pump = () => this.work();

  constructor(id: string, shard: number, parts: WebhookDispatchersParts, semaphore: DeliverySemaphore, memory: QueueMemory) {
    this.id = id;
    this.shard = shard;
    this.parts = parts;
    this.semaphore = semaphore;
    this.memory = memory;
  }

  /** Reads the webhook, at first and after each change. Ends itself if nothing is left to do. */
  async refresh(): Promise<void> {
    const readNumber = ++this.lastRead;
    try {
      const row = await this.parts.actors.query(webhook, this.id, 'get', null);
      // A later read sees later changes: only the last one may end the dispatcher.
      if (this.state === 'ended' || readNumber !== this.lastRead) return;
      if (row === null) return this.end();
      const before = this.row;
      this.row = row;
      this.readReceiver(row);
      if (before?.run !== row.run) this.begin(row);
      if (this.isOver) return this.end();
      this.work();
    } catch (err) {
      if (this.state !== 'working') return;
      this.parts.log.warn({ id: this.id, err }, 'a webhook could not be read; retrying');
      this.againTimer = setTimeout(() => void this.refresh(), retryMs).unref();
    }
  }

  /** Continues all due work. Called by a timer, and by tests that move the clock. */
  wake(): void {
    this.queues.wake(this.parts.clock.nowMs());
    this.work();
  }

  /** Starts nothing new; resolves when running deliveries have ended and are reported. */
  finish(): Promise<void> {
    if (this.state === 'working') this.state = 'finishing';
    this.feed?.close();
    this.feed = null;
    return new Promise((resolve) => {
      this.idle.push(resolve);
      this.settleIdle();
    });
  }

  /** Stops at once. Running deliveries end by themselves; their results are ignored. */
  end(): void {
    this.state = 'ended';
    this.feed?.close();
    this.queues.drop();
    this.queues = new OrderedQueues(0, []);
    this.semaphore.forget(this.pump);
    for (const timer of [this.reportTimer, this.wakeTimer, this.againTimer]) if (timer !== null) clearTimeout(timer);
    for (const resolve of this.idle.splice(0)) resolve();
    this.parts.ended(this);
  }

  private begin(row: WebhookRow): void {
    this.feed?.close();
    this.feed = null;
    this.queues.drop();
    this.queues = new OrderedQueues(row.cursor, isDelivering(row) ? row.lanes : [], this.memory);
    this.atOnce = atOnceFirst;
    this.reportedCursor = row.cursor;
    this.unreported = [];
    this.disable = null;
    this.queues.wake(this.parts.clock.nowMs());
    if (!isDelivering(row) || this.state !== 'working') return;
    const { queues } = this;
    this.feed = this.parts.feed.open(row.accountId, row.cursor, {
      take: (event) => this.queues === queues && this.take(event),
      hasCapacity: () => this.hasCapacity,
    });
  }

  private readReceiver(row: WebhookRow): void {
    const { url, secret } = row;
    const old = oldSecretsOf(row, this.parts.clock.nowMs());
    const keys = [secret, ...old.map((one) => one.secret)].map((text) => this.parts.keyOf(text, this.id));
    this.receiver = { url, origin: new URL(url).origin, keys };
    this.keysUntil = Math.min(...old.map(({ expiresAt }) => expiresAt));
  }

  private get hasCapacity(): boolean {
    return this.queues.hasCapacity && this.unreported.length < maxUnreported && this.disable === null;
  }

  /** The webhook is disabled or pending, and no delivery was requested by hand. */
  private get isOver(): boolean {
    return this.row !== null && !isDelivering(this.row) && this.row.asked.length === 0 && this.byHand.size === 0;
  }

  private get mayBegin(): boolean {
    return (
      this.state === 'working' &&
      this.disable === null &&
      this.inProgress < this.atOnce &&
      this.inProgress + this.unreported.length < maxUnreported
    );
  }

  private isWanted = (event: FeedEvent): boolean => {
    const { events, mode: own } = this.row!;
    const { eventCatalogue } = this.parts;
    const mode = eventCatalogue.modeOf(event);
    return eventCatalogue.chosenName(events, event.type) !== null && (mode === null || mode === own);
  };

  private take(event: FeedEvent): void {
    this.queues.take(event, this.isWanted(event));
    if (this.queues.cursor - this.reportedCursor >= reportEveryEvents) this.reportSoon();
    this.work();
  }

  private work(): void {
    if (this.row === null) return;
    this.deliverRequested(this.row);
    while (this.mayBegin && this.queues.hasWork && this.semaphore.take(this.receiver.origin, this.atOnce === 1, this.pump)) {
      const work = this.queues.next()!;
      this.oneMore(work.kind === 'send' ? this.deliver(this.queues, work.queue, work.event) : this.read(this.queues, work));
    }
    if (this.feed !== null && this.hasCapacity) this.feed.resume();
    this.planWake();
  }

  /** Runs a delivery for which a slot was acquired. */
  private oneMore(going: Promise<void>): void {
    this.inProgress++;
    const { origin } = this.receiver;
    const oneLess = () => {
      this.inProgress--;
      this.semaphore.free(origin);
      if (this.state === 'working') this.work();
      this.settleIdle();
    };
    going.catch((err) => this.parts.log.error({ id: this.id, err }, 'a delivery failed unexpectedly')).finally(oneLess);
  }

  private async deliver(queues: OrderedQueues, queue: OrderedQueue, event: FeedEvent): Promise<void> {
    const outcome = await this.send(event);
    if (this.queues !== queues) return;
    const nowMs = this.parts.clock.nowMs();
    const record = recordOf(deliveryId(event.id), event, queue.failures + 1, nowMs, outcome);
    if (outcome.kind === 'delivered') {
      queues.delivered(queue);
      this.atOnce = Math.min(maxAtOnce, this.atOnce + 1);
    } else {
      record.nextAttemptAt = queues.failed(queue, nowMs, outcome.retryAfterMs);
      this.atOnce = Math.max(1, this.atOnce >> 1);
      if (outcome.kind === 'gone') this.disable = 'gone';
      else if (record.nextAttemptAt === null) this.disable = 'failing';
      if (this.disable !== null) record.nextAttemptAt = null;
    }
    this.unreported.push(record);
    this.reportSoon();
  }

  private async read(queues: OrderedQueues, { queue, from, to }: { queue: OrderedQueue; from: number; to: number }): Promise<void> {
    try {
      const events = await this.parts.feed.read(this.row!.accountId, queue.taskId, from, to, queueEvents);
      if (this.queues === queues) queues.addEvents(queue, events, this.isWanted);
    } catch {
      queues.keptWaiting(queue, this.parts.clock.nowMs() + retryMs);
    }
  }

  /** Deliveries requested by hand come first, even if the receiver fails. */
  private deliverRequested({ asked }: WebhookRow): void {
    for (const one of asked) {
      if (this.state !== 'working' || this.inFlight.has(one.id) || this.byHand.has(one.id)) continue;
      this.inFlight.add(one.id);
      this.semaphore.takeOverLimit(this.receiver.origin);
      this.oneMore(this.deliverByHand(one));
    }
  }

  private async deliverByHand(one: RequestedDelivery): Promise<void> {
    const event = one.seq === 0 ? this.testEvent(one) : await this.find(one.seq);
    if (event === 'unknown') {
      // The database does not answer; the next refresh or wake-up reads it again.
      this.inFlight.delete(one.id);
      this.againTimer = setTimeout(this.pump, retryMs).unref();
      return;
    }
    const outcome = event === null ? gone : await this.send(event);
    const record = recordOf(one.id, { ...one, createdAtMs: one.createdAt }, one.attempts + 1, this.parts.clock.nowMs(), outcome);
    if (outcome.kind === 'delivered') this.queues.deliveredByHand(one.seq);
    this.byHand.set(one.id, record);
    this.inFlight.delete(one.id);
    this.reportSoon();
  }

  private async find(seq: number): Promise<FeedEvent | null | 'unknown'> {
    try {
      return (await this.parts.feed.read(this.row!.accountId, null, seq, seq, 1))[0] ?? null;
    } catch {
      return 'unknown';
    }
  }

  private testEvent({ id, type, createdAt }: RequestedDelivery): FeedEvent {
    const { accountId } = this.row!;
    const eventId = eventIdOf(id);
    const message = type === challengeType ? 'Answer this with 2xx, and events are sent to this address.' : 'This is a test.';
    const data = { webhook_id: this.id, message };
    const created_at = new Date(createdAt).toISOString();
    const envelope = JSON.stringify({ id: eventId, seq: 0, type, account_id: accountId, created_at, data });
    return { id: eventId, seq: 0, type, taskId: null, createdAtMs: createdAt, envelope };
  }

  private async send({ id, type, envelope }: FeedEvent): Promise<Outcome> {
    // No name is chosen for a delivery requested by hand.
    const chosen = this.parts.eventCatalogue.chosenName(this.row!.events, type) ?? type;
    const body = chosen === type ? envelope : JSON.stringify({ ...JSON.parse(envelope), type: chosen });
    if (this.keysUntil <= this.parts.clock.nowMs()) this.readReceiver(this.row!);
    const { outbound, clock, timeoutMs = defaultTimeoutMs } = this.parts;
    const outcome = await attempt(outbound, this.receiver, id, body, clock, timeoutMs);
    this.parts.tries.add([outcome.kind]);
    return outcome;
  }

  // Reporting to the actor

  private reportSoon(): void {
    if (this.state === 'ended' || this.reporting) return;
    if (this.unreported.length >= maxUnreported / 2 || this.disable !== null || this.state === 'finishing') void this.report();
    else this.reportTimer ??= setTimeout(() => void this.report(), reportAfterMs);
  }

  private async report(): Promise<void> {
    if (this.reporting || this.state === 'ended' || this.row === null) return;
    if (this.reportTimer !== null) clearTimeout(this.reportTimer);
    this.reportTimer = null;
    this.reporting = true;
    const { queues, disable } = this;
    const unreported = this.unreported.length;
    const tried = [...this.byHand.keys()];
    const deliveries = [...this.unreported, ...this.byHand.values()];
    const progress: Progress = { run: this.row.run, cursor: queues.cursor, lanes: queues.saved(), deliveries, tried, disable };
    let delayMs = 0;
    try {
      const isTaken = await this.parts.actors.ask(webhook, this.id, 'settle', progress);
      if (this.isEnded()) return;
      if (isTaken) this.reported(queues, unreported, tried, progress.cursor);
      if (!isTaken || disable !== null || this.isOver) await this.refresh();
    } catch (err) {
      if (!(err instanceof AppError)) this.parts.log.error({ id: this.id, err }, 'delivery progress could not be reported');
      delayMs = retryMs;
    }
    this.reporting = false;
    if (this.isEnded()) return;
    const isBehind = this.unreported.length > 0 || this.byHand.size > 0 || this.queues.cursor - this.reportedCursor >= reportEveryEvents;
    if (delayMs > 0) this.reportTimer = setTimeout(() => void this.report(), delayMs);
    else if (isBehind) this.reportSoon();
    this.work();
    this.settleIdle();
  }

  private reported(queues: OrderedQueues, unreported: number, tried: string[], cursor: number): void {
    for (const id of tried) this.byHand.delete(id);
    this.row = { ...this.row!, asked: this.row!.asked.filter(({ id }) => !tried.includes(id)) };
    if (this.queues !== queues) return;
    this.unreported.splice(0, unreported);
    this.reportedCursor = cursor;
  }

  private isEnded(): boolean {
    return this.state === 'ended';
  }

  private settleIdle(): void {
    if (this.idle.length === 0 || this.inProgress > 0) return;
    if (this.unreported.length + this.byHand.size > 0 && !this.isEnded()) return this.reportSoon();
    if (!this.reporting) for (const resolve of this.idle.splice(0)) resolve();
  }

  private planWake(): void {
    const dueAtMs = this.state === 'working' ? this.queues.dueAtMs() : null;
    if (this.wakeTimer !== null) clearTimeout(this.wakeTimer);
    this.wakeTimer = null;
    if (dueAtMs === null) return;
    const delayMs = Math.min(maxWaitMs, Math.max(0, dueAtMs - this.parts.clock.nowMs()));
    this.wakeTimer = setTimeout(() => this.wake(), delayMs).unref();
  }
}

const gone: Outcome = {
  kind: 'failed',
  responseStatus: null,
  responseBody: null,
  error: 'The event is no longer kept',
  durationMs: 0,
  retryAfterMs: 0,
};

/** An event and its delivery to a webhook have the same ending. */
export function deliveryId(eventId: string): string {
  return `whd_${eventId.slice(4)}`;
}

export function eventIdOf(deliveryId: string): string {
  return `evt_${deliveryId.slice(4)}`;
}

function recordOf(
  id: string,
  { seq, type, createdAtMs }: { seq: number; type: string; createdAtMs: number },
  attempts: number,
  nowMs: number,
  { kind, responseStatus, responseBody, error, durationMs }: Outcome,
): DeliveryRecord {
  return {
    id,
    seq,
    type,
    status: kind === 'delivered' ? 'delivered' : 'failed',
    attempts,
    responseStatus,
    responseBody,
    error,
    durationMs,
    createdAt: createdAtMs,
    attemptedAt: nowMs,
    nextAttemptAt: null,
  } as DeliveryRecord;
}
