/** Webhooks on one node: a real database, the runtime, the stream's hub, dispatchers with real sockets, and a clock that a test moves by hand. */
import type { TestContext } from 'node:test';
import type { ActorSystem } from '../../src/actors/actor-system.ts';
import { type AnyActor, actorRef, defineActor, type NewEvent } from '../../src/actors/define-actor.ts';
import { Runtime } from '../../src/actors/runtime.ts';
import type { Clock } from '../../src/clock.ts';
import type { Placement } from '../../src/cluster/placement.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { type UserContract, type UserProfile, user } from '../../src/domains/identity/user/messages.ts';
import { accountWebhooksActor } from '../../src/domains/webhooks/account-webhooks/account-webhooks.ts';
import { accountWebhooksEffects } from '../../src/domains/webhooks/account-webhooks/count.ts';
import type { WebhookRow } from '../../src/domains/webhooks/webhook/entity.ts';
import { type CreateWebhook, type DeliveryRecord, webhook } from '../../src/domains/webhooks/webhook/messages.ts';
import { webhookSecrets } from '../../src/domains/webhooks/webhook/secrets.ts';
import { keyOfSecret, newWebhookSecret } from '../../src/domains/webhooks/webhook/signature.ts';
import { webhookActor } from '../../src/domains/webhooks/webhook/webhook.ts';
import { WebhookDispatchers } from '../../src/domains/webhooks/webhook/webhook-dispatchers.ts';
import { AccountFeed } from '../../src/edge/stream/account-feed.ts';
import { StreamHub } from '../../src/edge/stream/stream-hub.ts';
import { AppError } from '../../src/errors.ts';
import { newId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import type { Mail } from '../../src/providers/mail/port.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import type { Resolve } from '../../src/providers/outbound/resolve.ts';
import { Database } from '../../src/storage/database.ts';
import { Canary, type CanaryRow } from '../../src/storage/entities/runtime.ts';
import { testDatabase } from './database.ts';
import type { Json } from './json.ts';
import { eventCatalogue } from './product-events.ts';
import { productSchema } from './product-schema.ts';
import { until } from './until.ts';

export type EmitterContract = { commands: { emit(input: { events: NewEvent[] }): null }; queries: Record<never, never> };
export const emitter = actorRef<EmitterContract>('emitter');

/** Emits the events of its input. */
export const emitterActor = defineActor<CanaryRow, EmitterContract>({
  ref: emitter,
  entity: Canary,
  commands: {
    emit(state, { events }, ctx) {
      for (const event of events) ctx.emit(event);
      return { state: { id: ctx.id, beats: (state?.beats ?? 0) + 1 } as CanaryRow, reply: null };
    },
  },
  queries: {},
});

type OwnerQueries = { [K in keyof Pick<UserContract['queries'], 'profile'>]: () => Partial<UserProfile> };

/** In the place of the user who registers webhooks: has an address, and no more. */
const ownerActor: AnyActor = {
  ref: user,
  entity: Canary,
  commands: {},
  queries: { profile: () => ({ email: 'ann@example.com' }) } satisfies OwnerQueries,
};

export class MovedClock implements Clock {
  private aheadMs = 0;

  nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  advance(ms: number): void {
    this.aheadMs += ms;
  }
}

export const secrets = webhookSecrets('a secret key of thirty-two characters or so');

export type DeliveringOptions = {
  database: Database;
  placement: Placement;
  runtime: Runtime;
  clock: Clock;
  allow?: string[];
  resolve?: Resolve;
  timeoutMs?: number;
};

/** What a node needs to deliver, registered on a runtime that has not started. */
export function deliveringParts({ database, placement, runtime, clock, allow = ['127.0.0.0/8'], resolve, timeoutMs }: DeliveringOptions) {
  const hub = new StreamHub(database, noLog);
  runtime.onEvents((events, seqs) => hub.publish(events, seqs));
  const outbound = createOutbound({ allow, resolve, connections: null });
  const mails: Mail[] = [];
  const mailServer = { isAway: false, tries: [] as string[] };
  const mail = {
    send: async (sent: Mail, messageId: string) => {
      mailServer.tries.push(messageId);
      if (mailServer.isAway) throw new AppError('unavailable', 'The mail server could not be reached');
      return { detail: String(mails.push(sent)) };
    },
  };
  const { actors } = runtime;
  const feed = new AccountFeed({ hub, database, log: noLog });
  const keyOf = (sealed: string, id: string) => keyOfSecret(secrets.open(sealed, id));
  const dispatchers = new WebhookDispatchers({
    actors,
    database,
    placement,
    feed,
    eventCatalogue,
    outbound,
    keyOf,
    clock,
    log: noLog,
    timeoutMs,
  });
  /** Whose dispatchers hear of no change. */
  const muted = new Set<string>();
  runtime.register([
    emitterActor,
    ownerActor,
    accountWebhooksActor(accountWebhooksEffects({ database })),
    webhookActor({ actors, mail, changed: (id) => muted.has(id) || dispatchers.changed(id) }),
  ]);
  return { hub, outbound, mails, mailServer, dispatchers, muted };
}

type Delivering = Pick<ReturnType<typeof deliveringParts>, 'dispatchers' | 'muted'>;

/** Creates a webhook whose address counts as having answered the challenge, and which is delivered to from now on. */
export async function createVerified(
  actors: ActorSystem,
  { dispatchers, muted }: Delivering,
  id: string,
  input: CreateWebhook,
): Promise<void> {
  muted.add(id);
  const { run, cursor, lanes, asked } = await actors.ask(webhook, id, 'create', input);
  const answered = { attempts: 1, status: 'delivered', responseStatus: 200, responseBody: '', error: null, durationMs: 1, attemptedAt: 1 };
  const deliveries = asked.map((one) => ({ ...one, ...answered, nextAttemptAt: null }) as DeliveryRecord);
  await actors.ask(webhook, id, 'settle', { run, cursor, lanes, deliveries, tried: asked.map((one) => one.id), disable: null });
  muted.delete(id);
  dispatchers.changed(id);
}

export type WebhookNode = Awaited<ReturnType<typeof startWebhookNode>>;

export async function startWebhookNode(t: TestContext, options: { allow?: string[]; resolve?: Resolve; timeoutMs?: number } = {}) {
  const server = await testDatabase();
  const clock = new MovedClock();
  const begin = async () => {
    const database = new Database(server.url, { schema: productSchema });
    const placement = new SingleNode(server.url, 'test', noLog);
    const runtime = new Runtime({ database, placement, log: noLog, clock, freezeStates: true });
    const parts = deliveringParts({ database, placement, runtime, clock, ...options });
    await runtime.start();
    return { database, runtime, ...parts };
  };
  let part = await begin();
  const end = async (graceMs?: number) => {
    part.dispatchers.stop();
    await part.runtime.stop(graceMs);
    await part.outbound.close();
    await part.database.close();
  };
  t.after(async () => {
    await end();
    await server.close();
  });
  const node = {
    clock,
    get actors() {
      return part.runtime.actors;
    },
    get outbound() {
      return part.outbound;
    },
    get database() {
      return part.database;
    },
    get dispatchers() {
      return part.dispatchers;
    },
    get mails() {
      return part.mails;
    },
    get mailServer() {
      return part.mailServer;
    },
    /** A registered webhook whose address has answered the challenge. */
    async register(url: string, given: Partial<CreateWebhook> = {}) {
      const id = newId('wh_', null);
      const secret = secrets.seal(newWebhookSecret(), id);
      const input = { accountId: 'acct_1', mode: 'live' as const, userId: 'usr_1', url, events: ['*'], secret, cursor: 0, ...given };
      await createVerified(node.actors, part, id, input);
      return { id };
    },
    async emitEvents(events: (Partial<NewEvent> & { n?: number })[], accountId = 'acct_1'): Promise<void> {
      const whole = events.map(({ n, ...event }) => ({ accountId, type: 'task.running', data: { n }, ...event }));
      await node.actors.ask(emitter, newId('evt_', null), 'emit', { events: whole });
    },
    /** Moves the clock and lets what is due go on. */
    async pass(ms: number): Promise<void> {
      clock.advance(ms);
      part.dispatchers.wake();
    },
    /** Fires the timers that are due by the clock. */
    async fireTimers(): Promise<void> {
      await part.runtime.sweepTimers();
      part.runtime.timers.fireDue();
    },
    row: (id: string) => node.actors.query(webhook, id, 'get', null),
    async deliveries(webhookId: string): Promise<Json[]> {
      const { rows } = await part.database.read({
        text: `select * from webhook_delivery where webhook_id = $1 and type <> 'webhook.challenge' order by id`,
        values: [webhookId],
      });
      return rows;
    },
    /** Resolves when the webhook's committed progress is as the condition says. */
    async untilRow(id: string, condition: (row: WebhookRow) => boolean, what: string): Promise<void> {
      await until(async () => {
        const row = await node.row(id);
        return row !== null && condition(row);
      }, what);
    },
    /** Ends it without finishing anything, as a crash does, and starts again. */
    async crash(): Promise<void> {
      await end(0);
      part = await begin();
    },
    /** Ends it in order and starts again. */
    async restart(): Promise<void> {
      await part.dispatchers.finish(5_000);
      await end();
      part = await begin();
    },
  };
  return node;
}
