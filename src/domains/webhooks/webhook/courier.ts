/**
 * Delivers the events of one webhook, on the node where its actor lives, and tells the actor what was done, many deliveries at a time. All it
 * knows can be lost: the actor's row says where to go on, and what had not been told is delivered again, under the same message id.
 *
 * C1 At most `maxUntold` deliveries are on their way or not yet committed: no more than these can be repeated by a crash.
 * C2 A receiver that fails or hangs gets fewer requests at once, down to one, and more again with each success.
 */

import type { FeedEvent, FeedHandle } from '../../../edge/stream/event-feed.ts';
import { AppError } from '../../../errors.ts';
import { attempt, type Outcome, type Receiver } from './attempt.ts';
import type { CouriersParts } from './couriers.ts';
import type { WebhookRow } from './entity.ts';
import { type Lane, type LaneMemory, Lanes, laneEvents } from './lanes.ts';
import { challengeType, type DeliveryRecord, isDelivering, type Progress, webhook } from './messages.ts';
import type { Slots } from './slots.ts';

const maxUntold = 128;
const mostAtOnce = 16;
const atOnceFirst = 4;
/** Deliveries of this time are told together. */
const tellAfterMs = 50;
/** Where nothing was delivered, so many events are passed by before that is told. */
const passedByUntold = 1_000;
const againMs = 1_000;
const defaultTimeoutMs = 10_000;
const longestWaitMs = 60_000;

type Asked = WebhookRow['asked'][number];

export class Courier {
  readonly id: string;
  readonly shard: number;
  private readonly parts: CouriersParts;
  private readonly slots: Slots;
  private readonly memory: LaneMemory;
  private row: WebhookRow | null = null;
  private receiver: Receiver & { origin: string } = { url: '', origin: '', keys: [] };
  private lanes = new Lanes(0, []);
  private feed: FeedHandle | null = null;
  private atOnce = atOnceFirst;
  private onTheirWay = 0;
  private untold: DeliveryRecord[] = [];
  /** The same of what a person has asked for. */
  private readonly byHand = new Map<string, DeliveryRecord>();
  private disable: Progress['disable'] = null;
  private toldCursor = 0;
  private readonly inFlight = new Set<string>();
  private telling = false;
  private lastLook = 0;
  private tellTimer: NodeJS.Timeout | null = null;
  private wakeTimer: NodeJS.Timeout | null = null;
  private againTimer: NodeJS.Timeout | null = null;
  private state: 'working' | 'finishing' | 'ended' = 'working';
  private readonly idle: (() => void)[] = [];
  private readonly pump = () => this.work();

  constructor(id: string, shard: number, parts: CouriersParts, slots: Slots, memory: LaneMemory) {
    this.id = id;
    this.shard = shard;
    this.parts = parts;
    this.slots = slots;
    this.memory = memory;
  }

  /** Takes the webhook as it stands now, at first and when it has changed. Ends itself where there is nothing more to do. */
  async refresh(): Promise<void> {
    const look = ++this.lastLook;
    try {
      const row = await this.parts.actors.query(webhook, this.id, 'get', null);
      // A later look sees what has changed since: only the last one may end it.
      if (this.state === 'ended' || look !== this.lastLook) return;
      if (row === null) return this.end();
      const before = this.row;
      this.row = row;
      this.readReceiver(row);
      if (before?.run !== row.run) this.begin(row);
      if (this.isOver) return this.end();
      this.work();
    } catch (err) {
      if (this.state !== 'working') return;
      this.parts.log.warn({ id: this.id, err }, 'a webhook could not be read; trying again');
      this.againTimer = setTimeout(() => void this.refresh(), againMs).unref();
    }
  }

  /** What is due by the clock goes on. Called in time by itself, and by whoever has moved the clock. */
  wake(): void {
    this.lanes.wake(this.parts.clock.nowMs());
    this.work();
  }

  /** Begins nothing new; resolves when what is on its way has ended and is told. */
  finish(): Promise<void> {
    if (this.state === 'working') this.state = 'finishing';
    this.feed?.close();
    this.feed = null;
    return new Promise((resolve) => {
      this.idle.push(resolve);
      this.settleIdle();
    });
  }

  /** Lets go of everything at once. What is on its way ends by itself, unheard. */
  end(): void {
    this.state = 'ended';
    this.feed?.close();
    this.lanes.drop();
    this.lanes = new Lanes(0, []);
    this.slots.forget(this.pump);
    for (const timer of [this.tellTimer, this.wakeTimer, this.againTimer]) if (timer !== null) clearTimeout(timer);
    for (const resolve of this.idle.splice(0)) resolve();
    this.parts.ended(this);
  }

  private begin(row: WebhookRow): void {
    this.feed?.close();
    this.feed = null;
    this.lanes.drop();
    this.lanes = new Lanes(row.cursor, isDelivering(row) ? row.lanes : [], this.memory);
    this.atOnce = atOnceFirst;
    this.toldCursor = row.cursor;
    this.untold = [];
    this.disable = null;
    this.lanes.wake(this.parts.clock.nowMs());
    if (!isDelivering(row) || this.state !== 'working') return;
    const { lanes } = this;
    this.feed = this.parts.feed.open(row.accountId, row.cursor, {
      take: (event) => this.lanes === lanes && this.take(event),
      hasRoom: () => this.hasRoom,
    });
  }

  private readReceiver({ url, secret, oldSecret, oldSecretExpiresAt }: WebhookRow): void {
    const isOldGood = oldSecret !== null && oldSecretExpiresAt !== null && oldSecretExpiresAt > this.parts.clock.nowMs();
    const keys = [secret, ...(isOldGood ? [oldSecret] : [])].map((text) => this.parts.keyOf(text, this.id));
    this.receiver = { url, origin: new URL(url).origin, keys };
  }

  private get hasRoom(): boolean {
    return this.lanes.hasRoom && this.untold.length < maxUntold && this.disable === null;
  }

  /** It is disabled or pending, and nobody has asked for anything by hand. */
  private get isOver(): boolean {
    return this.row !== null && !isDelivering(this.row) && this.row.asked.length === 0 && this.byHand.size === 0;
  }

  private get mayBegin(): boolean {
    return (
      this.state === 'working' && this.disable === null && this.onTheirWay < this.atOnce && this.onTheirWay + this.untold.length < maxUntold
    );
  }

  private isWanted = (event: FeedEvent): boolean => {
    const { events, mode: own } = this.row!;
    const { eventCatalogue } = this.parts;
    const mode = eventCatalogue.modeOf(event);
    return eventCatalogue.chosenName(events, event.type) !== null && (mode === null || mode === own);
  };

  private take(event: FeedEvent): void {
    this.lanes.take(event, this.isWanted(event));
    if (this.lanes.cursor - this.toldCursor >= passedByUntold) this.tellSoon();
    this.work();
  }

  private work(): void {
    if (this.row === null) return;
    this.deliverAsked(this.row);
    while (this.mayBegin && this.lanes.hasWork && this.slots.take(this.receiver.origin, this.atOnce === 1, this.pump)) {
      const work = this.lanes.next()!;
      this.oneMore(work.kind === 'send' ? this.deliver(this.lanes, work.lane, work.event) : this.read(this.lanes, work));
    }
    if (this.feed !== null && this.hasRoom) this.feed.resume();
    this.planWake();
  }

  /** A place was taken for it. */
  private oneMore(going: Promise<void>): void {
    this.onTheirWay++;
    const { origin } = this.receiver;
    const oneLess = () => {
      this.onTheirWay--;
      this.slots.free(origin);
      if (this.state === 'working') this.work();
      this.settleIdle();
    };
    going.catch((err) => this.parts.log.error({ id: this.id, err }, 'a delivery failed unexpectedly')).finally(oneLess);
  }

  private async deliver(lanes: Lanes, lane: Lane, event: FeedEvent): Promise<void> {
    const outcome = await this.send(event);
    if (this.lanes !== lanes) return;
    const nowMs = this.parts.clock.nowMs();
    const record = recordOf(deliveryId(event.id), event, lane.failures + 1, nowMs, outcome);
    if (outcome.kind === 'delivered') {
      lanes.delivered(lane);
      this.atOnce = Math.min(mostAtOnce, this.atOnce + 1);
    } else {
      record.nextAttemptAt = lanes.failed(lane, nowMs, outcome.retryAfterMs);
      this.atOnce = Math.max(1, this.atOnce >> 1);
      if (outcome.kind === 'gone') this.disable = 'gone';
      else if (record.nextAttemptAt === null) this.disable = 'failing';
      if (this.disable !== null) record.nextAttemptAt = null;
    }
    this.untold.push(record);
    this.tellSoon();
  }

  private async read(lanes: Lanes, { lane, from, to }: { lane: Lane; from: number; to: number }): Promise<void> {
    try {
      const events = await this.parts.feed.read(this.row!.accountId, lane.taskId, from, to, laneEvents);
      if (this.lanes === lanes) lanes.gave(lane, events, this.isWanted);
    } catch {
      lanes.keptWaiting(lane, this.parts.clock.nowMs() + againMs);
    }
  }

  /** What a person has asked for goes before everything else, also where the receiver is in trouble. */
  private deliverAsked({ asked }: WebhookRow): void {
    for (const one of asked) {
      if (this.state !== 'working' || this.inFlight.has(one.id) || this.byHand.has(one.id)) continue;
      this.inFlight.add(one.id);
      this.slots.takeAnyway(this.receiver.origin);
      this.oneMore(this.deliverByHand(one));
    }
  }

  private async deliverByHand(one: Asked): Promise<void> {
    const event = one.seq === 0 ? this.testEvent(one) : await this.find(one.seq);
    if (event === 'unknown') {
      // The database is away; whoever refreshes or wakes this finds it again.
      this.inFlight.delete(one.id);
      this.againTimer = setTimeout(this.pump, againMs).unref();
      return;
    }
    const outcome = event === null ? gone : await this.send(event);
    const record = recordOf(one.id, { ...one, createdAtMs: one.createdAt }, one.attempts + 1, this.parts.clock.nowMs(), outcome);
    if (outcome.kind === 'delivered') this.lanes.deliveredByHand(one.seq);
    this.byHand.set(one.id, record);
    this.inFlight.delete(one.id);
    this.tellSoon();
  }

  private async find(seq: number): Promise<FeedEvent | null | 'unknown'> {
    try {
      return (await this.parts.feed.read(this.row!.accountId, null, seq, seq, 1))[0] ?? null;
    } catch {
      return 'unknown';
    }
  }

  private testEvent({ id, type, createdAt }: Asked): FeedEvent {
    const { accountId } = this.row!;
    const eventId = eventIdOf(id);
    const message = type === challengeType ? 'Answer this with 2xx, and events are sent to this address.' : 'This is a test.';
    const data = { webhook_id: this.id, message };
    const created_at = new Date(createdAt).toISOString();
    const envelope = JSON.stringify({ id: eventId, seq: 0, type, account_id: accountId, created_at, data });
    return { id: eventId, seq: 0, type, taskId: null, createdAtMs: createdAt, envelope };
  }

  private async send({ id, type, envelope }: FeedEvent): Promise<Outcome> {
    // Null for what a person asked for.
    const chosen = this.parts.eventCatalogue.chosenName(this.row!.events, type) ?? type;
    const body = chosen === type ? envelope : JSON.stringify({ ...JSON.parse(envelope), type: chosen });
    const { oldSecretExpiresAt } = this.row!;
    if (this.receiver.keys.length > 1 && oldSecretExpiresAt! <= this.parts.clock.nowMs()) this.readReceiver(this.row!);
    const { outbound, clock, timeoutMs = defaultTimeoutMs } = this.parts;
    const outcome = await attempt(outbound, this.receiver, id, body, clock, timeoutMs);
    this.parts.tries.add([outcome.kind]);
    return outcome;
  }

  // Telling the actor

  private tellSoon(): void {
    if (this.state === 'ended' || this.telling) return;
    if (this.untold.length >= maxUntold / 2 || this.disable !== null || this.state === 'finishing') void this.tell();
    else this.tellTimer ??= setTimeout(() => void this.tell(), tellAfterMs);
  }

  private async tell(): Promise<void> {
    if (this.telling || this.state === 'ended' || this.row === null) return;
    if (this.tellTimer !== null) clearTimeout(this.tellTimer);
    this.tellTimer = null;
    this.telling = true;
    const { lanes, disable } = this;
    const untold = this.untold.length;
    const tried = [...this.byHand.keys()];
    const deliveries = [...this.untold, ...this.byHand.values()];
    const progress: Progress = { run: this.row.run, cursor: lanes.cursor, lanes: lanes.saved(), deliveries, tried, disable };
    let delayMs = 0;
    try {
      const isTaken = await this.parts.actors.ask(webhook, this.id, 'settle', progress);
      if (this.isEnded()) return;
      if (isTaken) this.told(lanes, untold, tried, progress.cursor);
      if (!isTaken || disable !== null || this.isOver) await this.refresh();
    } catch (err) {
      if (!(err instanceof AppError)) this.parts.log.error({ id: this.id, err }, 'what was delivered could not be told');
      delayMs = againMs;
    }
    this.telling = false;
    if (this.isEnded()) return;
    const isBehind = this.untold.length > 0 || this.byHand.size > 0 || this.lanes.cursor - this.toldCursor >= passedByUntold;
    if (delayMs > 0) this.tellTimer = setTimeout(() => void this.tell(), delayMs);
    else if (isBehind) this.tellSoon();
    this.work();
    this.settleIdle();
  }

  private told(lanes: Lanes, untold: number, tried: string[], cursor: number): void {
    for (const id of tried) this.byHand.delete(id);
    this.row = { ...this.row!, asked: this.row!.asked.filter(({ id }) => !tried.includes(id)) };
    if (this.lanes !== lanes) return;
    this.untold.splice(0, untold);
    this.toldCursor = cursor;
  }

  private isEnded(): boolean {
    return this.state === 'ended';
  }

  private settleIdle(): void {
    if (this.idle.length === 0 || this.onTheirWay > 0) return;
    if (this.untold.length + this.byHand.size > 0 && !this.isEnded()) return this.tellSoon();
    if (!this.telling) for (const resolve of this.idle.splice(0)) resolve();
  }

  private planWake(): void {
    const dueAtMs = this.state === 'working' ? this.lanes.dueAtMs() : null;
    if (this.wakeTimer !== null) clearTimeout(this.wakeTimer);
    this.wakeTimer = null;
    if (dueAtMs === null) return;
    const delayMs = Math.min(longestWaitMs, Math.max(0, dueAtMs - this.parts.clock.nowMs()));
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

/** An event and its delivery to a webhook end in the same characters. */
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
