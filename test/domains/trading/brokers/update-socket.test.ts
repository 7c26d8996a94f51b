/** The stream of a venue under hostile conditions: broken and foreign frames, floods, refusals, and events of connections that are over. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { UpdateSocket, type UpdateSocketOptions } from '../../../../src/domains/trading/brokers/update-socket.ts';
import type { Outbound, SocketListener } from '../../../../src/providers/outbound/port.ts';

type Opened = { listener: SocketListener; said: string[]; isClosed: boolean };
const frame = (kind: string) => JSON.stringify({ kind });
/** Lets the opening be answered. */
const answered = () => new Promise<void>((resolve) => setImmediate(resolve));

function world(t: TestContext, other: Partial<UpdateSocketOptions> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000;
  t.mock.method(performance, 'now', () => nowMs);
  const sockets: Opened[] = [];
  const heard: string[] = [];
  const outbound = {
    webSocket(_url: string, listener: SocketListener) {
      const opened: Opened = { listener, said: [], isClosed: false };
      sockets.push(opened);
      return { send: (text: string) => opened.said.push(text), close: () => void (opened.isClosed = true) };
    },
  } as unknown as Outbound;
  const stream = new UpdateSocket({
    outbound,
    listener: { changed: () => heard.push('changed'), connected: () => heard.push('connected'), lost: () => heard.push('lost') },
    opening: async () => ({ url: 'ws://venue.invalid/', configured: true, first: ['hello'] }),
    meaningOf: (message) => {
      const kind = (message as { kind?: unknown } | null | undefined)?.kind;
      if (kind === 'ready' || kind === 'changed') return { kind };
      return kind === 'refused' ? { kind, reason: 'no' } : { kind: 'nothing' };
    },
    silenceMs: null,
    ...other,
  });
  t.after(() => stream.close());
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await answered();
  };
  const ready = async () => {
    await answered();
    const socket = sockets.at(-1)!;
    socket.listener.opened();
    socket.listener.message(frame('ready'));
    heard.length = 0;
    return socket;
  };
  return { stream, sockets, heard, pass, ready };
}

test('frames that are no JSON, too deep, of another shape or binary change nothing, and the next frame is understood', async (t) => {
  const { heard, ready, sockets } = world(t);
  const { listener } = await ready();
  const hostile = [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '1e999',
    `${'['.repeat(50_000)}`,
    '{"kind":{"kind":"changed"}}',
    '{"__proto__":{"kind":"changed"}}',
  ];
  for (const text of hostile) {
    listener.message(text);
    listener.message(Buffer.from(text));
  }
  listener.message(Uint8Array.of(0xff, 0xfe, 0, 0x80));
  assert.deepEqual(heard, []);
  listener.message(Buffer.from(frame('changed')));
  assert.deepEqual([heard, sockets.length], [['changed'], 1]);
});

test('a stream that sends too many messages or bytes in a second is closed, and opened again after the longest pause', async (t) => {
  const { heard, ready, pass, sockets } = world(t);
  const { listener } = await ready();
  for (let second = 0; second < 3; second++) {
    for (let n = 0; n < 900; n++) listener.message(frame('changed'));
    await pass(1_000);
  }
  assert.equal(heard.length, 2_700, 'so much is read');
  const count = sockets.length;
  for (let n = 0; n < 5_000; n++) listener.message(frame('changed'));
  assert.deepEqual([sockets[0]!.isClosed, heard.filter((what) => what === 'changed').length, heard.at(-1)], [true, 3_700, 'lost']);
  await pass(29_000);
  assert.equal(sockets.length, count);
  await pass(1_001);
  assert.equal(sockets.length, count + 1);
  const next = await ready();
  for (let n = 0; n < 5; n++) next.listener.message(' '.repeat(2 ** 20));
  assert.equal(next.isClosed, true);
});

test('a refusal is repeated only after the longest pause, also on a stream that was ready for long', async (t) => {
  const { ready, pass, sockets } = world(t);
  const { listener } = await ready();
  await pass(3_600_000);
  listener.message(frame('refused'));
  await pass(29_000);
  assert.equal(sockets.length, 1);
  await pass(1_001);
  assert.equal(sockets.length, 2);
});

test('a venue that confirms and closes at once is tried with growing pauses', async (t) => {
  const { ready, pass, sockets } = world(t);
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const { listener } = await ready();
    const count = sockets.length;
    listener.closed('closed with code 1000');
    await pass(pauseMs - 1);
    assert.equal(sockets.length, count);
    await pass(1);
    assert.equal(sockets.length, count + 1);
  }
});

test('events of a connection that is over are ignored: a late frame, a second close, and everything after the stream is closed', async (t) => {
  const { stream, heard, ready, pass, sockets } = world(t);
  const first = await ready();
  first.listener.closed('cut');
  await pass(1_000);
  const second = await ready();
  first.listener.message(frame('changed'));
  first.listener.message(frame('refused'));
  first.listener.closed('again');
  assert.deepEqual([heard, second.isClosed], [[], false]);
  stream.close();
  second.listener.message(frame('changed'));
  second.listener.closed('cut');
  await pass(120_000);
  assert.deepEqual([heard, second.isClosed, sockets.length], [[], true, 2]);
});

test('a stream that is closed while its address is requested opens no socket', async (t) => {
  const opening = Promise.withResolvers<{ url: string; configured: boolean; first: string[] }>();
  const { stream, sockets } = world(t, { opening: () => opening.promise });
  stream.close();
  opening.resolve({ url: 'ws://venue.invalid/', configured: true, first: [] });
  await answered();
  assert.equal(sockets.length, 0);
});

test('a venue that accepts the connection and confirms nothing, or falls silent against its promise, is left', async (t) => {
  const { heard, ready, pass, sockets } = world(t, { silenceMs: 9_000 });
  await answered();
  sockets[0]!.listener.opened();
  await pass(15_000);
  assert.deepEqual([sockets[0]!.isClosed, heard], [true, []]);
  await pass(1_000);
  const { listener } = await ready();
  for (let n = 0; n < 4; n++) {
    await pass(8_000);
    listener.message('noise');
  }
  assert.deepEqual(heard, []);
  await pass(9_000);
  assert.deepEqual([heard, sockets[1]!.isClosed], [['lost'], true]);
});
