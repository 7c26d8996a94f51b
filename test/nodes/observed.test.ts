/** Observability of a cluster: metrics of both nodes, and a task as one trace over both. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { shardOf } from '../../src/cluster/address.ts';
import { allMetrics } from '../support/all-metrics.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { freePort } from '../support/free-port.ts';
import { agentScript, callTool, finish, type OpenAiServer, openAiServer } from '../support/openai-server.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { StripeServer } from '../support/stripe-server.ts';
import { until } from '../support/until.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
/** Metrics that only failures change, or work that the scripted model does not request. */
const notFedHere = [
  'troupe_http_failures_total',
  'troupe_turn_defects_total',
  'troupe_commit_failures_total',
  'troupe_work_retries_total',
  'troupe_work_early_total',
  'troupe_compute_jobs_total',
  'troupe_broker_calls_total',
  'troupe_integration_token_requests_total',
  'troupe_integration_calls_total',
];
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

let model: OpenAiServer;
let cluster: ClusterProcesses;
let collector: Collector;
let caller: Caller;
const admins: string[] = [];
const ends: (() => unknown)[] = [];

before(async () => {
  if (withoutRedis) return;
  const ending = { after: (end: any) => void ends.push(end) };
  collector = await startCollector(ending);
  const stripe = await StripeServer.start(ending);
  model = await openAiServer(
    agentScript(
      [{ type: 'builder', title: 'report', prompt: 'write it', after: [] }],
      callTool('write_file', { path: 'report.md', content: '# Done' }),
      finish('done'),
    ),
  );
  const shared = { MODEL_BASE_URL: model.url, MODEL_API_KEY: 'a-key-of-the-model', MODEL_NAME: 'gpt-5', ...stripe.env };
  const env = { ...shared, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  cluster = await ClusterProcesses.start({ nodes: 1, redis: true, env: { ...env, ADMIN_PORT: await freeAdminPort() } });
  await cluster.add({ ADMIN_PORT: await freeAdminPort(), DRAIN_GRACE_MS: '3000' });
  await cluster.untilReady();
  await until(
    async () => [...(await cluster.owners()).values()].filter((shards) => shards.length > 400).length === 2,
    'both to own shards',
  );
  caller = await Caller.register(cluster.nodes[0]!);
  // The webhook has no receiver, so its deliveries are counted as failed.
  await caller.json('POST', '/v1/api-keys/webhooks', { url: 'https://receiver.invalid/events', events: ['*'] });
  await caller.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  // One node has orders that are refused, the other need not.
  const order = { symbol: 'NOSUCH', side: 'buy', quantity: 1, order_type: 'market' };
  await caller.fetch('POST', '/v1/trading/orders', order);
});

after(async () => {
  await cluster?.close();
  await model?.close();
  for (const end of ends) end();
});

async function freeAdminPort(): Promise<string> {
  const port = await freePort();
  admins.push(`http://127.0.0.1:${port}`);
  return String(port);
}

test('a task is one trace over both nodes: request, turns, commits, effects, model and tools', options, async () => {
  // Their random ids decide where tasks live: some live on the one node and some on the other.
  const owners = await cluster.ownerOfShards();
  const used = new Set<string>();
  while (used.size < 2) {
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const { id } = await caller.json('POST', '/v1/tasks', { prompt: 'write a report' }, headers);
    await caller.untilTask(id, ['complete']);
    used.add(owners[shardOf('task', id)]!);
  }
  const seen = () => collector.spans.filter((span) => span.traceId === traceId);
  const names = () => new Set(seen().map(({ name }) => name));
  const wanted = ['POST /tasks', 'turn task create', 'commit', 'effect task plan', 'model gpt-5', 'turn agent modelled', 'tool write_file'];
  await until(() => wanted.every((name) => names().has(name)), `all of ${wanted} in the trace`);
  await until(() => new Set(seen().map(({ resource }) => resource['service.instance.id'])).size === 2, 'spans of both nodes');
  await until(() => {
    const ids = new Set(seen().map(({ spanId }) => spanId));
    return seen().every(
      ({ parentSpanId, name }) => ids.has(parentSpanId!) || (name === 'POST /tasks' && parentSpanId === '00f067aa0ba902b7'),
    );
  }, 'every span to have its parent in the trace');
});

test('nodes of a running cluster report every documented metric and no other', options, async () => {
  const described = allMetrics().describe();
  const missing = async (): Promise<string[]> => {
    const texts = await Promise.all(admins.map(async (url) => (await fetch(`${url}/metrics`)).text()));
    const fed = new Set(texts.flatMap((text) => text.match(/^troupe_\w+/gm) ?? []));
    return described
      .map(({ name, kind }) => (kind === 'histogram' ? `${name}_bucket` : name))
      .filter((name) => !fed.has(name) && !notFedHere.includes(name));
  };
  await until(async () => (await missing()).length === 0, 'every metric').catch(async () => assert.deepEqual(await missing(), []));
  const [text] = await Promise.all(admins.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const exposed = text!.match(/(?<=^# TYPE )troupe_\w+/gm)!;
  assert.deepEqual(
    exposed.toSorted(),
    described.map(({ name }) => name).sort(),
    'test/support/all-metrics.ts knows the metrics of every domain',
  );
  assert.match(text!, /^troupe_peer_up\{peer="node-2"\} 1$/m);
  assert.match(text!, /^troupe_http_requests_total\{method="POST",route="\/tasks",status="201"\} \d+$/m);
  assert.match(text!, /^nodejs_eventloop_lag_p99_seconds /m);
  assert.doesNotMatch(text!, /task_[0-9a-z]{26}|acct_|usr_/, 'no ids in labels');
});

test('the status shows the state of the node and no secret', options, async () => {
  for (const [n, url] of admins.entries()) {
    let text = '';
    let status!: { ready: string; node: string; cluster: { members: unknown[] } };
    // A busy machine may delay a command of the readiness check.
    await until(
      async () => {
        text = await (await fetch(`${url}/status`)).text();
        status = JSON.parse(text);
        return status.ready === 'ready';
      },
      `node-${n + 1} to be ready`,
    );
    assert.equal(status.node, `node-${n + 1}`);
    assert.equal(status.cluster.members.length, 2);
    const { SECRET_KEY: key, DATABASE_URL: database } = cluster.nodes[n]!.env;
    for (const secret of [key!, database!, 'a-key-of-the-model']) assert.ok(!text.includes(secret));
  }
});

test('a leaving node serves its metrics and its status until its callers are gone', options, async () => {
  const [node, url] = [cluster.nodes[1]!, admins[1]!];
  const ended = node.term();
  await until(async () => (await fetch(`${url}/health/ready`)).status === 503, 'the node to say that it leaves');
  const [status, metrics] = await Promise.all([fetch(`${url}/status`), fetch(`${url}/metrics`)]);
  assert.equal(((await status.json()) as { ready: string }).ready, 'draining');
  assert.match(await metrics.text(), /^troupe_peer_up\{peer="node-1"\} 1$/m);
  assert.equal((await ended).code, 0);
});
