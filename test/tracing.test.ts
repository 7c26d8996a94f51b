/** One request is one trace: edge, turn, commit, effect, on whatever node. And where nothing is traced, nothing is done. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { route } from '../src/edge/http/route.ts';
import { answer } from '../src/edge/routes/answer.ts';
import { AppError } from '../src/errors.ts';
import { OtlpTraces } from '../src/otlp-traces.ts';
import { createTracer, readTraceparent, type Tracer } from '../src/tracing.ts';
import { probeIdIn, testCluster } from './support/cluster-nodes.ts';
import { type Collector, type ReceivedSpan, startCollector } from './support/collector.ts';
import { startEdge } from './support/http-edge.ts';
import { probe, probeActor, probeOptions } from './support/probe-actor.ts';
import { withoutRedis } from './support/redis.ts';
import { testRuntime } from './support/runtime.ts';
import { until } from './support/until.ts';

const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function traced(t: TestContext, options: { sampleRatio?: number } = {}) {
  const collector = await startCollector(t);
  const dropping: string[] = [];
  const sink = new OtlpTraces({
    url: collector.url,
    resource: { 'service.name': 'troupe' },
    onDropping: (why) => void dropping.push(why),
    intervalMs: 10,
  });
  const tracer = createTracer({ sink, ...options });
  t.after(() => tracer.stop());
  return { collector, tracer, sink, dropping };
}

/** A service of one node with one route, which asks an actor to begin an effect. */
async function service(t: TestContext, tracer: Tracer) {
  const node = await testRuntime([probeActor], { ...probeOptions, tracer });
  t.after(() => node.close());
  const begin = route({
    method: 'POST',
    path: '/probes/{id}',
    summary: 'Begins an effect',
    scope: null,
    responses: { 200: Type.Unknown() },
    async handler({ params }) {
      return answer(200, await node.actors.ask(probe, params.id, 'begin', { effect: 'work', input: { value: 'worked' } }));
    },
  });
  const fail = route({
    method: 'GET',
    path: '/fails',
    summary: 'Fails',
    scope: null,
    responses: { 200: Type.Unknown() },
    handler: () => {
      throw new Error('it quotes a secret');
    },
  });
  const edge = await startEdge([begin, fail], { tracer });
  t.after(() => edge.server.close(0));
  return { node, edge };
}

function named(collector: Collector, name: string): ReceivedSpan {
  const found = collector.spans.find((span) => span.name === name);
  assert.ok(found !== undefined, `${name} among ${collector.spans.map((span) => span.name)}`);
  return found;
}

test('a request, its turn, the commit, the effect and the turn with its outcome are one trace, under the caller’s span', async (t) => {
  const { collector, tracer } = await traced(t);
  const { edge } = await service(t, tracer);
  const response = await fetch(`${edge.url}/v1/probes/p1?token=word`, {
    method: 'POST',
    headers: { traceparent: caller, 'x-request-id': 'r-1' },
  });
  assert.equal(response.status, 200);
  await response.text();
  await until(() => collector.spans.filter(({ name }) => name === 'commit').length >= 2 && collector.spans.length >= 6, 'all spans');
  const request = named(collector, 'POST /probes/{id}');
  const turn = named(collector, 'turn probe begin');
  const commit = named(collector, 'commit');
  const effect = named(collector, 'effect probe work');
  const outcome = named(collector, 'turn probe ended');
  assert.deepEqual(new Set(collector.spans.map(({ traceId }) => traceId)), new Set(['0af7651916cd43dd8448eb211c80319c']));
  assert.equal(request.parentSpanId, 'b7ad6b7169203331');
  assert.equal(turn.parentSpanId, request.spanId);
  assert.equal(commit.parentSpanId, turn.spanId);
  assert.equal(effect.parentSpanId, turn.spanId);
  assert.equal(outcome.parentSpanId, effect.spanId);
  assert.equal(request.attributes['http.route'], '/probes/{id}');
  assert.equal(request.attributes['troupe.request_id'], 'r-1');
  assert.equal(request.attributes['http.response.status_code'], '200');
  assert.equal(turn.attributes['troupe.actor.id'], 'p1');
  assert.equal(request.resource['service.name'], 'troupe');
  for (const span of collector.spans) assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
  assert.ok(!JSON.stringify(collector.spans).includes('word'), 'the query may hold tokens and stays out');
});

test('a failure is recorded by its code only, and its log line names the trace', async (t) => {
  const { collector, tracer } = await traced(t);
  const { edge } = await service(t, tracer);
  await fetch(`${edge.url}/v1/fails`, { headers: { traceparent: caller } });
  await until(() => collector.spans.length === 1, 'the span');
  assert.deepEqual(collector.spans[0]!.status, { code: 2, message: '500' });
  const line = edge.logged.find(({ level }) => level === 'error')!.fields as Record<string, unknown>;
  assert.equal(line.trace_id, '0af7651916cd43dd8448eb211c80319c');
  assert.ok(!JSON.stringify(collector.spans).includes('secret'));
  const span = tracer.startSpan('x', null);
  span.end(new AppError('conflict', 'quotes a caller'));
  span.end('twice');
  await until(() => collector.spans.length === 2, 'the second span');
  assert.deepEqual(collector.spans[1]!.status, { code: 2, message: 'conflict' });
});

test('an ask that another node answers is part of the same trace', { skip: withoutRedis }, async (t) => {
  const { collector, tracer } = await traced(t);
  const cluster = await testCluster(t, { runtime: { tracer } });
  const a = await cluster.join('a');
  const b = await cluster.join('b');
  await cluster.settled();
  const onB = probeIdIn((shard) => b.placement.epochOf(shard) !== null);
  const root = tracer.startSpan('request', null);
  await tracer.within(root.traceparent, () => a.actors.ask(probe, onB, 'add', { n: 1 }));
  await tracer.within(root.traceparent, () => a.actors.ask(probe, onB, 'add', { n: 1 }, { commandId: 'cmd-1' }));
  root.end();
  await until(() => collector.spans.filter(({ name }) => name === 'turn probe add').length === 2, 'the turns on b');
  const spanId = readTraceparent(root.traceparent)!.spanId;
  for (const turn of collector.spans.filter(({ name }) => name === 'turn probe add')) assert.equal(turn.parentSpanId, spanId);
});

test('a message continues the trace of the turn that sent it, and turns without a request begin no trace', async (t) => {
  const { collector, tracer } = await traced(t);
  const { node } = await service(t, tracer);
  await node.actors.ask(probe, 'alone', 'add', { n: 1 });
  const root = tracer.startSpan('request', null);
  await tracer.within(root.traceparent, () => node.actors.ask(probe, 'p1', 'send', { to: 'p2', inputs: ['hello'] }));
  root.end();
  await until(() => collector.spans.some(({ name }) => name === 'turn probe receive'), 'the turn of the message');
  const sent = named(collector, 'turn probe send');
  assert.equal(named(collector, 'turn probe receive').parentSpanId, sent.spanId);
  assert.ok(!collector.spans.some(({ attributes }) => attributes['troupe.actor.id'] === 'alone'));
});

test('an unsampled trace of the caller is not recorded, and the flag is passed on', async (t) => {
  const { collector, tracer, sink } = await traced(t);
  const unsampled = caller.replace(/01$/, '00');
  const span = tracer.startSpan('x', unsampled);
  assert.match(span.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
  assert.ok(!span.traceparent.includes('b7ad6b7169203331'));
  span.end();
  await tracer.stop();
  assert.equal(sink.sent, 0);
  assert.equal(collector.requests.length, 0);
});

test('of the traces that begin here the configured share is recorded', async (t) => {
  const { tracer } = await traced(t, { sampleRatio: 0 });
  assert.match(tracer.startSpan('x', null).traceparent, /-00$/);
  assert.match(tracer.startSpan('x', caller).traceparent, /-01$/, 'a caller that samples is obeyed all the same');
});

test('a traceparent is read as specified by W3C, and an invalid one begins a new trace', () => {
  const good = [caller, caller.replace(/^00/, '01'), `${caller.replace(/^00/, 'cc')}-what-comes-later`];
  for (const text of good) assert.equal(readTraceparent(text)?.spanId, 'b7ad6b7169203331', text);
  const bad = [
    '',
    'nonsense',
    caller.toUpperCase(),
    `${caller}-more`,
    caller.replace(/^00/, 'ff'),
    caller.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    caller.replace('b7ad6b7169203331', '0'.repeat(16)),
    ` ${caller}`,
  ];
  for (const text of bad) assert.equal(readTraceparent(text), null, text);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => readTraceparent(text) === null));
});

test('spans are sent again to a busy collector', async (t) => {
  const { collector, tracer, sink } = await traced(t);
  collector.answers = [503, 429];
  tracer.startSpan('once', null).end();
  await until(() => sink.sent === 1, 'the span');
  assert.deepEqual(
    collector.spans.map(({ name }) => name),
    ['once'],
  );
  assert.equal(collector.requests.length, 3);
  assert.equal(collector.requests[0]!.path, '/v1/traces');
});

test('spans that the collector refuses or does not get are dropped, counted and logged once; later spans are sent', async (t) => {
  const { collector, tracer, sink, dropping } = await traced(t);
  collector.answers = [400, null, null, null];
  tracer.startSpan('refused', null).end();
  await until(() => sink.dropped === 1, 'the first drop');
  tracer.startSpan('undelivered', null).end();
  await until(() => sink.dropped === 2, 'the second drop');
  assert.deepEqual(dropping, ['the collector answers 400']);
  tracer.startSpan('delivered', null).end();
  await until(() => sink.sent === 1, 'the third span');
  assert.deepEqual(
    collector.spans.map(({ name }) => name),
    ['delivered'],
  );
});

test('spans that arrive faster than they are sent use bounded memory', async (t) => {
  const dropping: string[] = [];
  const sink = new OtlpTraces({
    url: 'http://127.0.0.1:1',
    resource: {},
    onDropping: (why) => void dropping.push(why),
    intervalMs: 60_000,
  });
  t.after(() => sink.stop());
  const tracer = createTracer({ sink });
  for (let n = 0; n < 20_000; n++) tracer.startSpan('x', null).end();
  assert.ok(sink.dropped >= 20_000 - 8_192 - 512, `${sink.dropped}`);
  assert.equal(dropping.length, 1);
});

test('stopping sends the ended spans', async (t) => {
  const collector = await startCollector(t);
  const sink = new OtlpTraces({ url: `${collector.url}/`, headers: { 'x-key': 'k' }, resource: {}, intervalMs: 60_000 });
  const tracer = createTracer({ sink });
  for (let n = 0; n < 700; n++) tracer.startSpan('x', null, { n, share: 0.5, flag: true }).end();
  await tracer.stop();
  assert.equal(collector.spans.length, 700);
  assert.equal(collector.requests[0]!.headers['x-key'], 'k');
  assert.deepEqual(collector.spans[0]!.attributes, { n: '0', share: 0.5, flag: true });
});

test('without tracing its code is not loaded', () => {
  const loads = /^import (?!type\b)[^;]*from '[^']*\/(tracing|otlp-traces)\.ts'/m;
  const loading = globSync('src/**/*.ts').filter((path) => loads.test(readFileSync(path, 'utf8')));
  assert.deepEqual(loading, []);
});
