/**
 * The bytes of every kind of frame. During a rolling deploy nodes of two versions read each other's frames: a failing line here means
 * that a frame has changed. `proto/cluster/v1/cluster.proto` has the rules for changes.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { monotonicMs } from '../../../src/clock.ts';
import type { RemoteAsk } from '../../../src/cluster/placement.ts';
import * as frames from '../../../src/cluster/transport/frames.ts';
import { AppError } from '../../../src/errors.ts';
import { rawStream, someAsk, testNode } from '../../support/transports.ts';
import { until } from '../../support/until.ts';

const { askBody, askFrame, frameType } = frames;
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const issues = [{ loc: ['body', 'name'], msg: 'too long', type: 'string_too_long', input: null, ctx: {} }];

/**
 * The frames that this version writes. A changed line is a change of the protocol: move the earlier line to the asks and answers read
 * below.
 */
const written: [kind: keyof typeof frameType, frame: string, bytes: string][] = [
  [
    'ask',
    askFrame(1, 9_999.5, askBody(someAsk({ input: { by: [1, 2], text: 'a "ü" ✓' } }))),
    '[1,1,9999.5,"counter","c1","add",{"by":[1,2],"text":"a \\"ü\\" ✓"},0]',
  ],
  ['ask', askFrame(2, 10_000, askBody(someAsk({ query: true }))), '[1,2,10000,"counter","c1","add",null,1]'],
  ['ask', askFrame(3, 10_000, askBody(someAsk({ input: undefined }))), '[1,3,10000,"counter","c1","add",null,0]'],
  ['ask', askFrame(4, 10_000, askBody(someAsk({ commandId: 'cmd_1' }))), '[1,4,10000,"counter","c1","add",null,0,"cmd_1"]'],
  ['ask', askFrame(4, 10_000, askBody(someAsk({ commandId: 'cmd_1', repeat: true }))), '[1,4,10000,"counter","c1","add",null,2,"cmd_1"]'],
  ['ask', askFrame(5, 10_000, askBody(someAsk({ effectId: 'eff_1' }))), '[1,5,10000,"counter","c1","add",null,0,null,"eff_1",null]'],
  [
    'ask',
    askFrame(6, 10_000, askBody(someAsk({ commandId: 'cmd_1', trace }))),
    `[1,6,10000,"counter","c1","add",null,0,"cmd_1",null,"${trace}"]`,
  ],
  ['cancel', frames.cancelFrame(7), '[2,7]'],
  ['reply', frames.replyFrame(8, { sum: 3, text: 'ü' }), '[3,8,{"sum":3,"text":"ü"}]'],
  ['reply', frames.replyFrame(9, null), '[3,9,null]'],
  ['reply', frames.replyFrame(10, undefined), '[3,10]'],
  ['failure', frames.failureFrame(11, new AppError('stale_epoch', 'No longer ours')), '[4,11,"stale_epoch","No longer ours",null,null]'],
  ['failure', frames.failureFrame(12, new AppError('mailbox_full', 'Full', { retryAfterS: 7 })), '[4,12,"mailbox_full","Full",7,null]'],
  [
    'failure',
    frames.failureFrame(13, new AppError('invalid', 'Too long', { issues })),
    `[4,13,"invalid","Too long",null,${JSON.stringify(issues)}]`,
  ],
  ['notification', frames.notificationFrame('rescan', null), '[5,"rescan",null]'],
  ['notification', frames.notificationFrame('known', { accounts: ['acct_1'] }), '[5,"known",{"accounts":["acct_1"]}]'],
  ['credit', frames.creditFrame(1_048_576), '[6,1048576]'],
  ['ping', frames.pingFrame(14), '[7,14]'],
  ['pong', frames.pongFrame(15), '[8,15]'],
  ['goodbye', frames.goodbyeFrame, '[9]'],
];

/** Asks as versions have written them so far, and as a later one may. Lines are added, never changed. */
const asksRead: [bytes: string, read: Partial<RemoteAsk>][] = [
  ['[1,1,9999.5,"counter","c1","add",{"by":[1,2],"text":"a \\"ü\\" ✓"},0]', { input: { by: [1, 2], text: 'a "ü" ✓' } }],
  ['[1,2,10000,"counter","c1","add",null,1]', { query: true }],
  ['[1,3,10000,"counter","c1","add",null,0,"cmd_1"]', { commandId: 'cmd_1' }],
  ['[1,7,10000,"counter","c1","add",null,2,"cmd_1"]', { commandId: 'cmd_1', repeat: true }],
  ['[1,4,10000,"counter","c1","add",null,0,null,"eff_1",null]', { effectId: 'eff_1' }],
  [`[1,5,10000,"counter","c1","add",null,0,"cmd_1",null,"${trace}"]`, { commandId: 'cmd_1', trace }],
  ['[1,6,10000,"counter","c1","add",null,0,null,null,null,{"of":"a later version"}]', {}],
];

/** The same of answers; # stands for the number of the ask. */
const answersRead: [bytes: string, read: unknown][] = [
  ['[3,#,{"sum":3,"text":"ü"}]', { sum: 3, text: 'ü' }],
  ['[3,#,null]', null],
  ['[3,#]', undefined],
  ['[3,#,1,"of a later version"]', 1],
  [
    '[4,#,"stale_epoch","No longer ours",null,null]',
    { code: 'stale_epoch', message: 'No longer ours', issues: undefined, retryAfterS: undefined },
  ],
  ['[4,#,"mailbox_full","Full",7,null]', { code: 'mailbox_full', message: 'Full', issues: undefined, retryAfterS: 7 }],
  [`[4,#,"invalid","Too long",null,${JSON.stringify(issues)}]`, { code: 'invalid', message: 'Too long', issues, retryAfterS: undefined }],
  ['[4,#,"stale_epoch","No longer ours"]', { code: 'stale_epoch', message: 'No longer ours', issues: undefined, retryAfterS: undefined }],
  ['[4,#,"a_later_code","?",null,null,1]', { code: 'internal', message: '?', issues: undefined, retryAfterS: undefined }],
];

test('every kind of frame is written in the bytes that other versions read', () => {
  for (const [kind, frame, bytes] of written) assert.equal(frame, bytes, kind);
  assert.deepEqual(new Set(written.map(([kind]) => kind)), new Set(Object.keys(frameType)));
  for (const [kind, , bytes] of written) assert.equal(JSON.parse(bytes)[0], frameType[kind]);
});

test('asks, notifications, pings and goodbyes are read in every form that a version has written', async (t) => {
  const node = await testNode(t, 'node');
  const served: RemoteAsk[] = [];
  const notified: unknown[] = [];
  let gone: AbortSignal | null = null;
  node.transport.serve((ask, _, whenGone) => {
    if (ask.name !== 'wait') return void served.push(ask);
    gone = whenGone();
    return new Promise(() => {});
  });
  node.transport.onNotification('known', (payload) => notified.push(payload));
  node.transport.onNotification('rescan', (payload) => notified.push(payload));
  const { wire, received, write } = await rawStream(t, node, 'a peer');
  const beganMs = monotonicMs();
  write(...asksRead.map(([bytes]) => bytes));
  await until(() => served.length === asksRead.length);
  const deadline = { from: beganMs + 9_999, to: monotonicMs() + 10_000 };
  for (const [i, [bytes, read]] of asksRead.entries()) {
    const { deadlineMs, ...ask } = served[i]!;
    const { deadlineMs: _, ...expected } = someAsk(read);
    assert.deepEqual(ask, expected, bytes);
    assert.ok(deadlineMs >= deadline.from && deadlineMs <= deadline.to, bytes);
  }
  write(
    '[1,100,10000,"counter","c1","wait",null,0]',
    '[77,"of a later version"]',
    '[2,100]',
    '[5,"known",{"accounts":["acct_1"]}]',
    '[5,"rescan"]',
    '[7,3]',
  );
  await until(() => received.includes('[8,3]'));
  assert.equal((gone as AbortSignal | null)?.aborted, true);
  assert.deepEqual(notified, [{ accounts: ['acct_1'] }, undefined]);
  write('[9]');
  await until(() => node.transport.peerStatuses()[0]?.takesAsks === false);
  assert.equal(wire.ended, null);
});

test('replies, failures, credit and pongs are read in every form that a version has written', async (t) => {
  const node = await testNode(t, 'node', { windowBytes: 1 });
  const { wire, received, write } = await rawStream(t, node, 'a peer');
  const peer = { ...node.member, incarnation: 'a peer' };
  for (const [bytes, read] of answersRead) {
    received.length = 0;
    const answer = node.transport
      .ask(peer, someAsk())
      .catch(({ code, message, issues, retryAfterS }) => ({ code, message, issues, retryAfterS }));
    // Grants more credit than the ask used; without it the next ask would not be sent.
    write('[6,1000]', '[8,1]');
    await until(() => received.some((each) => each.startsWith('[1,')));
    const asked = received.find((each) => each.startsWith('[1,'))!;
    assert.match(asked, /^\[1,\d+,[\d.]+,"counter","c1","add",null,0\]$/);
    write(bytes.replace('#', String(JSON.parse(asked)[1])));
    assert.deepEqual(await answer, read, bytes);
  }
  assert.equal(wire.ended, null);
});
