/** `/ws` from the outside: a real server, sockets, runtime and database; only the principals of tokens are fakes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { actorRef, defineActor } from '../../../src/actors/define-actor.ts';
import type { Principal } from '../../../src/edge/auth/principal.ts';
import { createServer, type HttpServer } from '../../../src/edge/http/server.ts';
import type { Connection } from '../../../src/edge/http/web-socket.ts';
import { Stream } from '../../../src/edge/stream/stream.ts';
import { StreamHub } from '../../../src/edge/stream/stream-hub.ts';
import { noLog } from '../../../src/log.ts';
import type { EventDraft } from '../../../src/storage/commit-unit.ts';
import { ProbeEntity, type ProbeState, probeOptions } from '../../support/probe-actor.ts';
import { eventCatalogue } from '../../support/product-events.ts';
import { type TestRuntime, testRuntime } from '../../support/runtime.ts';
import { StreamClient } from '../../support/stream-client.ts';
import { until } from '../../support/until.ts';

type Said = { type: string; taskId?: string; data?: object };
type SpeakerContract = {
  commands: { say(input: { account: string; events: Said[] }): null };
  queries: { said(input: null): number };
};
const speaker = actorRef<SpeakerContract>('speaker');
/** Emits the given events. */
const speakerActor = defineActor<ProbeState, SpeakerContract>({
  ref: speaker,
  entity: ProbeEntity,
  mailboxLimit: 10_000,
  commands: {
    say(state, { account, events }, ctx) {
      for (const { type, taskId, data = {} } of events) ctx.emit({ accountId: account, type, taskId, data });
      const blank = { id: ctx.id, value: 0, name: null, ratio: null, received: [], text: '', data: {} } as unknown as ProbeState;
      return { state: { ...(state ?? blank), value: (state?.value ?? 0) + 1 }, reply: null };
    },
  },
  queries: { said: (state) => state?.value ?? 0 },
});

let runtime: TestRuntime;
let server: HttpServer;
let port: number;
let hub: StreamHub;
let stream: Stream;
let gappyHub: StreamHub;
/** Runs when the hub with gaps has read a page and has not processed it yet. */
let afterRead: (() => Promise<void>) | null = null;
let patient: Stream[];
const revoked = new Set<string>();
const connections: Connection<unknown>[] = [];
let connectionsOpened = 0;
/** The committed events of the account whose notifications a test sends to the hub itself. */
const published: (EventDraft & { seq: number })[] = [];

const slowLookUp = Promise.withResolvers<void>();
/** Tokens are `account` or `account scope,scope`. `nobody` is unknown, `down` cannot be looked up, `slow` waits for the test. */
async function authenticate(token: string): Promise<Principal | null> {
  if (token === 'never answered') return new Promise(() => {});
  if (token === 'nobody') return null;
  if (token === 'slow') await slowLookUp.promise;
  if (token === 'down') throw new Error('the database is away');
  const [accountId, scopes] = token.split(' ') as [string, string?];
  const kind = scopes === 'link' ? 'link' : 'api_key';
  return { accountId, userId: 'usr_1', kind, scopes: scopes === undefined ? 'all' : new Set(scopes.split(',')), mode: 'live', id: token };
}

before(async () => {
  runtime = await testRuntime([speakerActor], probeOptions);
  server = await createServer({
    handler: () => ({ status: 404, headers: null, body: null }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
  });
  const { database } = runtime;
  const parts = {
    database,
    eventCatalogue,
    authenticate,
    isStillValid: (one: Principal) => !revoked.has(one.id),
    retentionDays: 7,
    log: noLog,
  };
  hub = new StreamHub(database, noLog);
  const read: typeof database.read = async (query) => {
    const found = await database.read(query);
    await afterRead?.();
    return found;
  };
  gappyHub = new StreamHub({ read }, noLog);
  stream = new Stream({ ...parts, hub });
  const impatient = new Stream({ ...parts, hub, authTimeoutMs: 2_000 });
  const crowded = new Stream({ ...parts, hub, unauthenticatedLimits: { sockets: 2, authTimeoutMs: 2_000 } });
  const gappy = new Stream({ ...parts, hub: gappyHub });
  const leaving = new Stream({ ...parts, hub });
  server.webSocket('/crowded', crowded, { maxMessageBytes: 64 * 1024, maxBufferedBytes: 1024 * 1024, idleTimeoutS: 120 });
  patient = [stream, impatient, gappy, leaving, crowded];
  const limits = { maxMessageBytes: 64 * 1024, maxReceivedBytes: 4 * 1024 * 1024, maxBufferedBytes: 1024 * 1024, idleTimeoutS: 120 };
  const watched: Pick<Stream, 'open' | 'message' | 'tooLong' | 'drain' | 'close'> = {
    open(connection) {
      connectionsOpened++;
      connections.push(connection);
      stream.open(connection);
    },
    message: (connection, message) => stream.message(connection, message),
    tooLong: (connection) => stream.tooLong(connection),
    drain: (connection) => stream.drain(connection),
    close: (connection) => stream.close(connection),
  };
  server.webSocket('/ws', watched, limits);
  server.webSocket('/impatient', impatient, limits);
  server.webSocket('/gappy', gappy, limits);
  server.webSocket('/leaving', leaving, limits);
  runtime.runtime.onEvents((events, seqs) => {
    hub.publish(events, seqs);
    events.forEach((event, i) => {
      if (event.accountId === 'acct_gappy') published.push({ ...event, seq: seqs[i]! });
    });
  });
  runtime.placement.onLostCommits(() => hub.endAll());
  ({ port } = await server.listen('127.0.0.1', 0));
});
after(async () => {
  for (const one of patient) one.disconnectAll(0);
  await server.close(0);
  await runtime.close();
});

const say = (account: string, ...events: Said[]) => runtime.actors.ask(speaker, `${account}-speaker`, 'say', { account, events });
const words = (count: number, bytes = 0): Said[] =>
  Array.from({ length: count }, (_, n) => ({ type: 'task.running', taskId: 'task_1', data: { n, padding: 'x'.repeat(bytes) } }));

async function subscribe(token: string, resumeFrom?: number, path?: string): Promise<StreamClient> {
  const client = await StreamClient.open(port, path);
  client.send({ type: 'auth', token, resume_from: resumeFrom });
  await client.untilMessage('auth_ok');
  return client;
}

/** Every event names the one sent before it. Returns the numbers. */
function assertChain(client: StreamClient, from: number): number[] {
  let last = from;
  for (const { prev, event } of client.events) {
    assert.equal(prev, last, `event ${event.seq} follows ${last}`);
    assert.ok(event.seq > last);
    last = event.seq;
  }
  return client.events.map(({ event }) => event.seq);
}
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

for (const [what, first] of [
  ['is another type', '{"type":"subscribe","topics":[]}'],
  ['has no token', '{"type":"auth"}'],
  ['has a token that is no text', '{"type":"auth","token":5}'],
  ['is not JSON', 'hello'],
  ['is a list', '[]'],
  ['is null', 'null'],
  ['is a tower of brackets', '['.repeat(60_000)],
  ['has a type with a trap in it', '{"type":{"toString":null,"valueOf":1}}'],
  ['resumes from nowhere', '{"type":"auth","token":"acct_a","resume_from":-1}'],
  ['resumes from a fraction', '{"type":"auth","token":"acct_a","resume_from":1.5}'],
  ['resumes from a text', '{"type":"auth","token":"acct_a","resume_from":"1"}'],
] as const) {
  test(`a first message that ${what} closes with 4400`, async () => {
    const client = await StreamClient.open(port);
    client.sendText(first);
    assert.equal(await client.ended(), 4400);
  });
}

test('a binary message closes with 4400, and so does one of 3 MB, also a first one', async () => {
  const binary = await StreamClient.open(port);
  binary.sendBinary(Buffer.from('{"type":"auth","token":"acct_a"}'));
  assert.equal(await binary.ended(), 4400);
  for (const chars of [70_000, 3_000_000]) {
    const huge = await subscribe('acct_a');
    huge.sendText(`{"type":"ping","x":"${'x'.repeat(chars)}"}`);
    assert.equal(await huge.ended(), 4400);
  }
  const first = await StreamClient.open(port);
  first.sendText(`{"type":"auth","token":"${'x'.repeat(3_000_000)}"}`);
  assert.equal(await first.ended(), 4400);
});

test('an invalid token or a download link closes with 4401; a token that cannot be checked asks the client to reconnect', async () => {
  for (const [token, code] of [
    ['nobody', 4401],
    ['acct_a link', 4401],
    ['down', 1012],
  ] as const) {
    const client = await StreamClient.open(port);
    client.send({ type: 'auth', token });
    assert.equal(await client.ended(), code);
  }
});

test('with too many unauthenticated sockets the slow ones are closed; authenticated ones stay', async () => {
  const known = await subscribe('acct_a', undefined, '/crowded');
  const silent = await Promise.all([1, 2, 3].map(() => StreamClient.open(port, '/crowded')));
  for (const client of silent) await client.ended();
  known.send({ type: 'ping' });
  await known.untilMessage('pong');
  known.vanish();
});

test('a client that does not authenticate in time is closed with 4408; an authenticated one stays', async () => {
  const known = await subscribe('acct_a', undefined, '/impatient');
  const silent = await StreamClient.open(port, '/impatient');
  assert.equal(await silent.ended(), 4408);
  known.send({ type: 'ping' });
  await known.untilMessage('pong');
  known.vanish();
});

test('a client whose token cannot be checked in time is asked to reconnect, not closed with 4408', async () => {
  const client = await StreamClient.open(port, '/impatient');
  client.send({ type: 'auth', token: 'never answered' });
  assert.equal(await client.ended(), 1012);
});

test('after auth, a second auth, an unknown type and a hostile message each close with 4400', async () => {
  for (const message of ['{"type":"auth","token":"acct_a"}', '{"type":"nonsense"}', '{"type":{"toString":1}}', '{}', '"ping"']) {
    const client = await subscribe('acct_a');
    client.sendText(message);
    assert.equal(await client.ended(), 4400, message);
  }
});

test('live events arrive in order, each naming the one before', async () => {
  await say('acct_live', ...words(3));
  const client = await subscribe('acct_live');
  assert.equal(client.messages[0].seq, 3);
  assert.equal(client.messages[0].resumed, false);
  for (let i = 0; i < 10; i++) await say('acct_live', ...words(2));
  await client.until(() => client.events.length === 20);
  assert.deepEqual(assertChain(client, 3), range(4, 23));
  const { event } = client.events[0];
  assert.deepEqual(Object.keys(event), ['id', 'seq', 'type', 'account_id', 'created_at', 'data']);
  client.vanish();
});

test('no subscriber gets events of another account', async () => {
  const client = await subscribe('acct_mine');
  await say('acct_theirs', ...words(5));
  await say('acct_mine', ...words(1));
  await client.until(() => client.events.length === 1);
  assert.equal(client.events[0].event.account_id, 'acct_mine');
  client.vanish();
});

const seeds = Number(process.env.SEEDS ?? 12);
test(`readers that vanish and resume while events are committed at full speed see each event once, in order (${seeds} readers)`, {
  timeout: 300_000,
}, async () => {
  const account = 'acct_fast';
  let isWriting = true;
  const writing = Promise.all(
    range(1, 8).map(async (writer) => {
      while (isWriting) await runtime.actors.ask(speaker, `${account}-${writer}`, 'say', { account, events: words(1 + (writer % 3)) });
    }),
  );
  const readers = range(1, seeds).map(async (seed) => {
    const seen: number[] = [];
    for (let visit = 0; visit < 6; visit++) {
      const from = seen.at(-1) ?? 0;
      const client = await subscribe(account, from);
      assert.equal(client.messages[0].resumed, true);
      const wanted = 1 + ((seed * 7919 + visit * 104_729) % 400);
      await client.until(() => client.events.length >= wanted);
      client.vanish();
      seen.push(...assertChain(client, from));
      const replayed = client.messages.findIndex((message) => message.type === 'replayed');
      if (replayed > 1) assert.equal(client.messages[replayed].seq, client.messages[replayed - 1].event.seq);
    }
    assert.deepEqual(seen, range(1, seen.length));
  });
  await Promise.all(readers).finally(() => (isWriting = false));
  await writing;
});

test('topics and scopes filter events, and prev links the sent events into a chain', async () => {
  const account = 'acct_topics';
  const mixed = (): Said[] => [
    { type: 'task.running', taskId: 'task_1' },
    { type: 'approval.required', taskId: 'task_2' },
    { type: 'card.created' },
    { type: 'agent.thinking', taskId: 'task_1' },
    { type: 'approval.approved', taskId: 'task_2' },
  ];
  await say(account, ...mixed());
  const narrow = async (token: string, topics: string[]) => {
    const client = await subscribe(token);
    client.send({ type: 'subscribe', topics });
    assert.deepEqual((await client.untilMessage('subscribed')).topics, topics);
    return client;
  };
  const clients = {
    byTask: await narrow(account, ['task:task_1']),
    byType: await narrow(account, ['type:approval.*']),
    byOtherName: await narrow(account, ['type:agent.approval_needed']),
    byOtherFamily: await narrow(account, ['type:agent.*', 'task:task_2']),
    byBothNames: await narrow(account, ['type:agent.approval_needed', 'type:approval.required']),
    both: await narrow(account, ['task:task_1', 'type:card.created']),
    none: await narrow(account, ['task:task_none']),
    reader: await subscribe(`${account} tasks.read`),
    agents: await subscribe(`${account} agents.read,commerce.read`, 0),
  };
  await say(account, ...mixed(), ...mixed());
  const all = await subscribe(account, 5);
  await all.until(() => all.events.length === 10);
  const types = (client: StreamClient) => client.events.map(({ event }) => event.type);
  await clients.agents.until(() => clients.agents.events.length === 12);
  await clients.both.until(() => clients.both.events.length === 6);
  await clients.byType.until(() => clients.byType.events.length === 4);
  await clients.byOtherFamily.until(() => clients.byOtherFamily.events.length === 6);
  assert.deepEqual(assertChain(clients.byTask, 5), [6, 9, 11, 14]);
  assert.deepEqual(assertChain(clients.byType, 5), [7, 10, 12, 15]);
  assert.deepEqual(types(clients.byOtherName), ['agent.approval_needed', 'agent.approval_needed']);
  assert.deepEqual(assertChain(clients.byOtherName, 5), [7, 12]);
  const ofAgents = ['agent.approval_needed', 'agent.thinking', 'approval.approved'];
  assert.deepEqual(types(clients.byOtherFamily), [...ofAgents, ...ofAgents]);
  assert.deepEqual(types(clients.byBothNames), ['approval.required', 'approval.required']);
  assert.deepEqual(assertChain(clients.both, 5), [6, 8, 9, 11, 13, 14]);
  assert.deepEqual(types(clients.none), []);
  assert.deepEqual(types(clients.reader), ['task.running', 'task.running']);
  assertChain(clients.reader, 5);
  assert.deepEqual(assertChain(clients.agents, 0), [2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15]);
  for (const client of [...Object.values(clients), all]) client.vanish();
});

test('topics sent right after auth, before its answer, apply from the first event on', async () => {
  const account = 'acct_early_topics';
  await say(account, { type: 'task.running', taskId: 'task_7' }, { type: 'card.created' }, { type: 'agent.started', taskId: 'task_7' });
  const client = await StreamClient.open(port);
  client.send({ type: 'auth', token: account, resume_from: 0 });
  client.send({ type: 'subscribe', topics: ['type:card.*'] });
  client.send({ type: 'subscribe', topics: ['task:task_7'] });
  await client.untilMessage('replayed');
  const [first, second] = client.messages;
  assert.deepEqual([first?.type, second], ['auth_ok', { type: 'subscribed', topics: ['task:task_7'] }]);
  assert.deepEqual(assertChain(client, 0), [1, 3]);
  client.vanish();
});

test('a client that reads none of its answers is closed with 4430', { timeout: 120_000 }, async () => {
  const client = await subscribe('acct_deaf');
  client.pause();
  const connection = connections.at(-1) as Connection<{ state: string }>;
  const topics = Array.from({ length: 100 }, (_, n) => `task:task_${'7'.repeat(50)}_${n}`);
  for (let sent = 0; connection.data.state === 'open'; sent += 100) {
    assert.ok(sent < 20_000, 'answers are left out silently');
    for (let n = 0; n < 100; n++) client.send({ type: 'subscribe', topics });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  client.resume();
  assert.equal(await client.ended(), 4430);
});

test('invalid topics close with 4400', async () => {
  for (const topics of [undefined, 'type:*', [5], ['nonsense'], ['type:a b'], ['task:'], Array(101).fill('type:*')]) {
    const client = await subscribe('acct_a');
    client.send({ type: 'subscribe', topics });
    assert.equal(await client.ended(), 4400, JSON.stringify(topics)?.slice(0, 40));
  }
});

test('resuming from beyond the newest event or before the oldest kept one gets a reset and continues live', async () => {
  const account = 'acct_reset';
  await say(account, ...words(5));
  await runtime.sql(`update event set created_at = now() - interval '8 days' where account_id = $1 and seq <= 3`, [account]);
  for (const from of [6, 99, 0, 2]) {
    const client = await subscribe(account, from);
    assert.equal(client.messages[0].resumed, false, `from ${from}`);
    assert.deepEqual(await client.untilMessage('reset'), { type: 'reset', oldest_seq: 4 });
    client.vanish();
  }
  const exact = await subscribe(account, 5);
  assert.deepEqual(await exact.untilMessage('replayed'), { type: 'replayed', seq: 5 });
  const kept = await subscribe(account, 3);
  await kept.untilMessage('replayed');
  assert.deepEqual(assertChain(kept, 3), [4, 5]);
  const reset = await subscribe(account, 99);
  await reset.untilMessage('reset');
  await say(account, ...words(1));
  await reset.until(() => reset.events.length === 1);
  assertChain(reset, 5);
  for (const client of [exact, kept, reset]) client.vanish();
});

test('a replay waits for a reader that stops reading, with few events in memory, and loses none when it continues', {
  timeout: 300_000,
}, async () => {
  const account = 'acct_paced';
  for (let i = 0; i < 40; i++) await say(account, ...words(50, 8_000));
  const client = await StreamClient.open(port);
  const connection = connections.at(-1)!;
  client.send({ type: 'auth', token: account, resume_from: 0 });
  await client.untilMessage('auth_ok');
  client.pause();
  await until(() => connection.bufferedBytes() > 256 * 1024, 'the reader to be behind');
  for (let i = 0; i < 40; i++) {
    await say(account, ...words(5, 8_000));
    assert.ok(connection.bufferedBytes() < 512 * 1024, `${connection.bufferedBytes()} bytes wait`);
  }
  client.resume();
  await client.untilMessage('replayed');
  await client.until(() => client.events.length === 2_200);
  assert.deepEqual(assertChain(client, 0), range(1, 2_200));
  client.vanish();
});

test('a live reader that is over a mebibyte behind is closed with 4430, and loses no event by resuming', {
  timeout: 300_000,
}, async () => {
  const account = 'acct_slow';
  const client = await subscribe(account);
  client.pause();
  let said = 0;
  const connection = connections.at(-1) as Connection<{ state: string }>;
  while (connection.data.state === 'open' && said < 20_000) {
    await say(account, ...words(50, 8_000));
    said += 50;
  }
  client.resume();
  assert.equal(await client.ended(), 4430);
  const seen = assertChain(client, 0);
  assert.ok(seen.length < said, 'it was behind');
  const again = await subscribe(account, seen.at(-1) ?? 0);
  await again.untilMessage('replayed');
  assert.deepEqual([...seen, ...assertChain(again, seen.at(-1) ?? 0)], range(1, said));
  again.vanish();
});

test('events notified twice, in the wrong order or not at all reach the reader once and in order', async () => {
  const account = 'acct_gappy';
  const client = await subscribe(account, 0, '/gappy');
  await client.untilMessage('replayed');
  for (let i = 0; i < 30; i++) await say(account, ...words(3));
  assert.equal(published.length, 90);
  const publish = (...events: (EventDraft & { seq: number })[]) =>
    gappyHub.publish(
      events,
      events.map((event) => event.seq),
    );
  publish(published[1]!);
  publish(published[1]!, published[0]!);
  publish(published[5]!, published[4]!, published[3]!);
  publish(published[2]!);
  for (let i = 10; i < 89; i += 7) publish(published[i]!);
  publish(published[89]!);
  await client.until(() => client.events.length === 90);
  assert.deepEqual(assertChain(client, 0), range(1, 90));
  client.vanish();
});

test('an event notified while an earlier page is being read arrives without a further notification', async () => {
  const account = 'acct_gappy';
  const before = published.length;
  afterRead = async () => {
    afterRead = null;
    await say(account, ...words(1));
    gappyHub.publish([published.at(-1)!], [published.at(-1)!.seq]);
  };
  const client = await subscribe(account, before, '/gappy');
  await client.untilMessage('replayed');
  await client.until(() => client.events.length === 1);
  assert.equal(client.events[0].event.seq, before + 1);
  client.vanish();
});

test('a reader of a notified event that does not exist must resume, and the search for the event ends', async () => {
  const account = 'acct_gappy';
  await say(account, ...words(1));
  const client = await subscribe(account, 0, '/gappy');
  await client.untilMessage('replayed');
  const last = published.at(-1)!;
  gappyHub.publish([last], [last.seq + 9]);
  assert.equal(await client.ended(), 4430);
});

test('a revoked key closes its own sockets with 4401 and no others', async () => {
  const [one, two, other] = await Promise.all([subscribe('acct_key a.read'), subscribe('acct_key a.read'), subscribe('acct_key b.read')]);
  revoked.add('acct_key a.read');
  assert.deepEqual([await one!.ended(), await two!.ended()], [4401, 4401]);
  other!.send({ type: 'ping' });
  await other!.untilMessage('pong');
  other!.vanish();
});

test('a leaving node sends every client the time to reconnect and closes with 1012', async () => {
  const clients = await Promise.all([subscribe('acct_a', undefined, '/leaving'), StreamClient.open(port, '/leaving')]);
  patient[3]!.disconnectAll(1_000);
  for (const client of clients) {
    assert.equal(await client.ended(), 1012);
    const { reconnect_after_ms: afterMs } = client.messages.at(-1);
    assert.ok(afterMs >= 0 && afterMs <= 1_000);
  }
});

test('when the database has lost commits every stream ends with 1012, and a client that resumes beyond them gets a reset', async () => {
  const account = 'acct_rewound';
  await say(account, ...words(4));
  const client = await subscribe(account, 0);
  await client.untilMessage('replayed');
  await say(account, ...words(1));
  await client.until(() => client.events.length === 5);
  const before = await runtime.sql('select last_seq::int as seq from event_counter where account_id = $1', [account]);
  assert.deepEqual(before, [{ seq: 5 }]);
  // As in a standby that lagged behind.
  await runtime.sql('delete from event where account_id = $1 and seq > 3', [account]);
  await runtime.sql('update event_counter set last_seq = 3 where account_id = $1', [account]);
  await runtime.sql('update shard set epoch = epoch - 1');
  assert.equal(await client.ended(), 1012);
  assert.equal(client.messages.at(-1).type, 'goaway');
  assert.ok(client.messages.at(-1).reconnect_after_ms <= 1_000);
  assert.equal(hub.listening.has(account), false);

  const resumed = await subscribe(account, 5);
  await resumed.untilMessage('reset');
  assert.deepEqual(
    resumed.messages.slice(0, 2).map(({ type, seq, resumed, oldest_seq }) => ({ type, seq, resumed, oldest_seq })),
    [
      { type: 'auth_ok', seq: 3, resumed: false, oldest_seq: undefined },
      { type: 'reset', seq: undefined, resumed: undefined, oldest_seq: 1 },
    ],
  );
  // The numbers are given again, to other events, and none of those is left out.
  await say(account, ...words(3));
  await resumed.until(() => resumed.events.length === 3);
  assert.deepEqual(
    resumed.events.map(({ prev, event }) => [prev, event.seq]),
    [
      [3, 4],
      [4, 5],
      [5, 6],
    ],
  );
  resumed.vanish();
});

test('a client that disconnects during the look-up of its token is not subscribed afterwards', async () => {
  await until(() => stream.connections === 0 && hub.subscribers === 0, 'the sockets of other tests to be gone');
  const client = await StreamClient.open(port);
  client.send({ type: 'auth', token: 'slow' });
  await until(() => (connections.at(-1) as Connection<{ state: string }>).data.state === 'authenticating');
  client.vanish();
  await until(() => stream.connections === 0);
  slowLookUp.resolve();
  const next = await subscribe('acct_a');
  next.vanish();
  await until(() => stream.connections === 0 && hub.subscribers === 0, 'nobody to be subscribed');
});

test('a thousand sockets that vanish at any moment leave nothing behind', { timeout: 300_000 }, async () => {
  await until(() => stream.connections === 0 && hub.subscribers === 0, 'the sockets of other tests to be gone');
  await say('acct_many', ...words(50));
  const before = connectionsOpened;
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      range(1, 100).map(async (n) => {
        const client = await StreamClient.open(port);
        if (n % 4 > 0) client.send({ type: 'auth', token: `acct_many${n % 10}`, resume_from: n % 2 === 0 ? 0 : undefined });
        if (n % 4 === 2) await client.untilMessage('auth_ok');
        client.vanish();
      }),
    );
  }
  assert.equal(connectionsOpened - before, 1_000);
  await until(() => stream.connections === 0 && hub.subscribers === 0, 'all sockets to be gone');
});
