/** The metrics of a node, and that documents, dashboard and alerts use no others. `WRITE_DOCS=1` rewrites the table. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import Type from 'typebox';
import { parse } from 'yaml';
import { EventStats } from '../src/admin/event-stats.ts';
import { WorkLag } from '../src/admin/work-lag.ts';
import { CountBy, Distribution } from '../src/counts.ts';
import { observedToolbox, ToolStats } from '../src/domains/tasks/tools/observed.ts';
import { RequestStats } from '../src/edge/http/request-stats.ts';
import { route } from '../src/edge/http/route.ts';
import { answer } from '../src/edge/routes/answer.ts';
import { AppError } from '../src/errors.ts';
import { noLog } from '../src/log.ts';
import { Metrics } from '../src/metrics.ts';
import { ModelStats, observedModel } from '../src/providers/model/observed.ts';
import type { Model, ModelReply } from '../src/providers/model/port.ts';
import { toolbox } from './support/agent-world.ts';
import { allMetrics } from './support/all-metrics.ts';
import { startEdge } from './support/http-edge.ts';
import { probe, probeActor, probeOptions } from './support/probe-actor.ts';
import { testRuntime } from './support/runtime.ts';
import { until } from './support/until.ts';

type Query = { expr: string };
type Panel = { targets?: Query[] };
type Rule = Query & { alert: string; for?: string; labels: { severity: string }; annotations: { runbook: string; summary: string } };
type Group = { rules: Rule[] };

/** The samples of a scrape: name with labels, and value. */
async function scrape(metrics: Metrics): Promise<Map<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('names follow the conventions: base units, counters end in _total, and only they do', () => {
  for (const { name, kind, help } of allMetrics().describe()) {
    assert.match(name, /^troupe_[a-z_]+$/);
    assert.equal(name.endsWith('_total'), kind === 'counter', name);
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb|cents|percent)(_|$)/);
    if (kind === 'histogram') assert.match(name, /_(seconds|bytes|turns)$/);
    assert.ok(help.length >= 10 && !help.endsWith('.'), `${name}: ${help}`);
  }
});

test('docs/metrics.md lists exactly all metrics, with their meaning', () => {
  const path = 'docs/metrics.md';
  const rows = allMetrics()
    .describe()
    .map(({ name, kind, help }) => `| \`${name}\` | ${kind} | ${help} |`);
  const table = ['| metric | kind | meaning |', '|---|---|---|', ...rows].join('\n');
  const text = readFileSync(path, 'utf8');
  const written = text.replace(/(<!-- table -->\n)[\s\S]*?(\n<!-- end -->)/, (_, before, after) => before + table + after);
  if (process.env.WRITE_DOCS === '1') writeFileSync(path, written);
  else assert.equal(text, written, 'run it with WRITE_DOCS=1');
});

test('the dashboard and the alerts use existing metrics, and every metric is on the dashboard or in an alert', () => {
  const dashboard = JSON.parse(readFileSync('deploy/grafana/troupe.json', 'utf8'));
  const alerts = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8'));
  const shown: string[] = dashboard.panels.flatMap(({ targets = [] }: Panel) => targets.map(({ expr }) => expr));
  const alerted: string[] = alerts.groups.flatMap(({ rules }: Group) => rules.map(({ expr }) => expr));
  const others = [
    ...dashboard.annotations.list.map(({ expr }: Query) => expr),
    ...dashboard.templating.list.map(({ query }: { query: { query?: string } }) => query.query ?? ''),
  ];
  const used = new Set([...shown, ...alerted, ...others].flatMap((expr) => expr.match(/\btroupe_[a-z_]+/g) ?? []));
  const there = new Map(
    allMetrics()
      .describe()
      .map(({ name, kind }) => [name, kind]),
  );
  const unknown = [...used].filter((name) => !there.has(name) && there.get(name.replace(/_(bucket|sum|count)$/, '')) !== 'histogram');
  assert.deepEqual(unknown, []);
  const silent = [...there].filter(([name, kind]) => !used.has(kind === 'histogram' ? `${name}_bucket` : name));
  assert.deepEqual(silent, []);
});

test('every alert waits or counts over time, has a severity, and names a row of docs/operating.md', () => {
  const operating = readFileSync('docs/operating.md', 'utf8');
  const { groups } = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8'));
  for (const { alert, expr, labels, annotations, for: wait } of groups.flatMap(({ rules }: Group) => rules) as Rule[]) {
    assert.ok(wait !== undefined || /\[\d+m\]/.test(expr), alert);
    assert.match(labels.severity, /^(page|ticket)$/, alert);
    assert.ok(operating.includes(`\n| ${annotations.runbook} |`), `${alert}: ${annotations.runbook}`);
    assert.ok(annotations.summary.length > 10, alert);
  }
});

test('parentheses and braces of every expression are balanced', () => {
  const texts = [readFileSync('deploy/grafana/troupe.json', 'utf8'), readFileSync('deploy/prometheus/alerts.yml', 'utf8')];
  const dashboard = JSON.parse(texts[0]!);
  const all = [
    ...dashboard.panels.flatMap(({ targets = [] }: Panel) => targets.map(({ expr }) => expr)),
    ...parse(texts[1]!).groups[0].rules.map(({ expr }: Query) => expr),
  ];
  for (const expr of all as string[])
    for (const [open, close] of ['()', '{}', '[]'].map((pair) => pair.split('')))
      assert.equal(expr.split(open!).length, expr.split(close!).length, expr);
});

test('a distribution counts each value in the bucket of its size, and Prometheus gets them cumulatively', async () => {
  const metrics = new Metrics(noLog);
  const distribution = new Distribution([0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) distribution.record(value);
  metrics.distribution('troupe_test_seconds', 'For this test', () => distribution);
  assert.deepEqual(Object.fromEntries(await scrape(metrics)), {
    'troupe_test_seconds_bucket{le="0.1"}': 2,
    'troupe_test_seconds_bucket{le="1"}': 3,
    'troupe_test_seconds_bucket{le="+Inf"}': 4,
    troupe_test_seconds_sum: 7.65,
    troupe_test_seconds_count: 4,
  });
});

test('label values from outside are bounded: further values count as other', () => {
  const counts = new CountBy(['model', 'outcome'], 3);
  for (let n = 0; n < 1_000; n++) counts.add([`model-${n}`, 'done']);
  counts.add(['model-1', 'done']);
  assert.deepEqual(
    counts.read().map(({ labels, value }) => [labels!.model, value]),
    [
      ['model-0', 1],
      ['model-1', 2],
      ['model-2', 1],
      ['other', 997],
    ],
  );
});

test('labels are escaped: no model name can add lines', async () => {
  const metrics = new Metrics(noLog);
  const counts = new CountBy(['model']);
  counts.add(['a"} 1\ntroupe_ready 0\n\\']);
  metrics.counter('troupe_test_total', 'For this test', () => counts.read());
  const text = await metrics.text();
  assert.doesNotMatch(text, /^troupe_ready/m);
  assert.match(text, /troupe_test_total\{model="a\\"\} 1\\ntroupe_ready 0\\n\\\\"\} 1/);
});

test('a part that cannot be read is missing from the scrape, and the others are in it', async () => {
  const said: object[] = [];
  const metrics = new Metrics({ ...noLog, warn: (fields) => void said.push(fields) });
  metrics.gauge('troupe_broken', 'For this test', () => {
    throw new Error('gone');
  });
  metrics.gauge('troupe_silent', 'For this test', () => null);
  metrics.gauge('troupe_whole', 'For this test', async () => 3);
  assert.deepEqual([...(await scrape(metrics))], [['troupe_whole', 3]]);
  assert.equal(said.length, 1);
  assert.throws(() => metrics.gauge('troupe_whole', 'Twice', () => 1), /already/);
  assert.throws(() => metrics.gauge('requests-total', 'No name', () => 1), /no name/);
});

test('concurrent scrapes are answered by one reading', async () => {
  const metrics = new Metrics(noLog);
  let reads = 0;
  metrics.gauge('troupe_test', 'For this test', () => ++reads);
  await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
  assert.equal(reads, 1);
  await metrics.text();
  assert.equal(reads, 2);
});

test('requests are counted by route pattern, never by path; failures by code', async (t) => {
  const stats = new RequestStats();
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const things = route({
    method: 'GET',
    path: '/things/{id}',
    summary: 'Looks',
    scope: null,
    responses: { 200: Type.Unknown() },
    async handler({ params }) {
      if (params.id === 'held') await held;
      if (params.id === 'full') throw new AppError('mailbox_full', 'Too many', { retryAfterS: 1 });
      if (params.id === 'broken') throw new TypeError('a defect');
      return answer(200, {});
    },
  });
  const edge = await startEdge([things], { stats });
  t.after(() => edge.server.close(0));
  const ask = async (path: string, method = 'GET') => void (await (await fetch(edge.url + path, { method })).text());
  const waiting = ask('/v1/things/held');
  await until(() => stats.inFlight === 1, 'the held request');
  for (const id of ['1', '2', 'full', 'broken', '%00']) await ask(`/v1/things/${id}`);
  await ask('/things/3');
  await ask('/nowhere/at/all');
  await ask('/things/1', 'POST');
  letGo();
  await waiting;
  assert.equal(stats.inFlight, 0);
  const counted = Object.fromEntries(stats.requests().map(({ labels, value }) => [Object.values(labels!).join(' '), value]));
  assert.deepEqual(counted, {
    'GET /things/{id} 200': 4,
    'GET /things/{id} 503': 1,
    'GET /things/{id} 500': 1,
    'GET /things/{id} 404': 1,
    'any none 404': 1,
    'any none 405': 1,
  });
  const failed = Object.fromEntries(stats.failuresByCode().map(({ labels, value }) => [labels!.code, value]));
  assert.deepEqual(failed, { mailbox_full: 1, internal: 1, not_found: 1 });
  const { distribution } = stats.durations()[0]!;
  assert.equal(
    distribution.counts.reduce((sum, count) => sum + count),
    7,
  );
});

test('commits, effects and defects of a runtime are counted when they happen, and waiting work in the database is queried', async (t) => {
  const test = await testRuntime([probeActor], probeOptions);
  t.after(() => test.close());
  const { runtime, actors } = test;
  await Promise.all(Array.from({ length: 20 }, (_, n) => actors.ask(probe, `p${n % 3}`, 'add', { n: 1 })));
  assert.equal(runtime.commit.committedTurns, 20);
  const batches = runtime.commit.batchTurns.counts.reduce((sum, count) => sum + count);
  assert.equal(runtime.commit.batchTurns.sum, 20);
  assert.equal(
    runtime.commit.durationS.counts.reduce((sum, count) => sum + count),
    batches,
  );
  await actors.ask(probe, 'p1', 'addAndFail', { n: 1, how: 'throw' }).catch(() => {});
  assert.deepEqual(actors.turns.defects.read(), [{ labels: { kind: 'probe' }, value: 1 }]);
  await actors.ask(probe, 'p1', 'put', { value: 2_000_000 }).catch(() => {});
  assert.deepEqual(runtime.commit.notCommitted.read(), [{ labels: { outcome: 'failed' }, value: 1 }]);
  await actors.ask(probe, 'p1', 'begin', { effect: 'work', input: {} });
  await until(() => runtime.effects.ran.read().length === 1, 'the effect');
  assert.deepEqual(runtime.effects.ran.read()[0]!.labels, { kind: 'probe', effect: 'work', outcome: 'done' });
  const lag = new WorkLag(test.database, test.placement);
  assert.equal(lag.read(), null);
  await lag.measure();
  await test.sql(
    "insert into timer (kind, actor_id, name, shard, command, input, due_at) values ('none', 'x', 'n', 3, 'c', '{}', now() - interval '1 hour')",
  );
  const later = new WorkLag(test.database, test.placement);
  await later.measure();
  assert.ok(lag.read()!.mostOverdueTimerS < 3_000 && later.read()!.mostOverdueTimerS >= 3_600);
  assert.ok(lag.read()!.databaseBytes > 1_000_000);
});

test('model turns and tool calls are counted with their cost, and their answers are not changed', async () => {
  const reply: ModelReply = { text: 'yes', toolCalls: [], inputTokens: 100, outputTokens: 20, costMillicents: 250_000, model: 'gpt-5' };
  const failure = new AppError('unavailable', 'The model is away');
  const answers: (ModelReply | Error)[] = [reply, failure];
  const model: Model = {
    name: 'gpt-5',
    turn: async () => {
      const next = answers.shift()!;
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const stats = new ModelStats();
  const observed = observedModel(model, stats, null);
  const options = { signal: new AbortController().signal, idempotencyKey: 'k' };
  const request = { system: '', messages: [], tools: [], maxOutputTokens: 10 };
  assert.equal(await observed.turn(request, options), reply);
  await assert.rejects(observed.turn(request, options), failure);
  assert.deepEqual(stats.turns.read(), [
    { labels: { model: 'gpt-5', outcome: 'done' }, value: 1 },
    { labels: { model: 'gpt-5', outcome: 'failed' }, value: 1 },
  ]);
  assert.deepEqual(stats.cost.read(), [{ labels: { model: 'gpt-5' }, value: 2.5 }]);
  assert.deepEqual(
    stats.tokens.read().map(({ value }) => value),
    [100, 20],
  );
  const tools = new ToolStats();
  const tooled = observedToolbox({ ...toolbox, run: async (name) => ({ result: name, isError: name === 'bad' }) }, tools, null);
  await tooled.run('good', {}, {} as never, () => {});
  await tooled.run('bad', {}, {} as never, () => {});
  assert.deepEqual(
    tools.calls.read().map(({ labels }) => labels),
    [
      { tool: 'good', outcome: 'done' },
      { tool: 'bad', outcome: 'failed' },
    ],
  );
});

test('events are counted with their delivery time', () => {
  const stats = new EventStats();
  stats.committed([{ createdAt: 1_000 }, { createdAt: 1_005 }], 1_250);
  stats.committed([{ createdAt: 5_000 }], 4_000);
  stats.committed([], 9_000);
  assert.equal(stats.published, 3);
  assert.equal(stats.lagS.sum, 0.25);
});
