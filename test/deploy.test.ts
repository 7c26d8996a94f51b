/** What deploy/ promises about the service, held against the service itself, as nothing here builds an image or applies a manifest. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig, variableNames } from '../src/config.ts';
import { healthRoutes } from '../src/edge/routes/health.ts';
import { noLog } from '../src/log.ts';
import { Metrics } from '../src/metrics.ts';
import { noBrowser } from '../src/providers/browser/no-browser.ts';

const text = (path: string) => readFileSync(path, 'utf8');
const compose = parse(text('deploy/compose.yaml'), { merge: true });
const kubernetes = new Map<string, any[]>();
for (const path of globSync('deploy/kubernetes/*.yaml')) {
  for (const document of parseAllDocuments(text(path))) {
    assert.deepEqual(document.errors, [], path);
    const { kind } = document.toJS();
    kubernetes.set(kind, [...(kubernetes.get(kind) ?? []), document.toJS()]);
  }
}
const only = (kind: string) => kubernetes.get(kind)![0];
const container = only('Deployment').spec.template.spec.containers[0];
const settings = only('ConfigMap').data;
const nodes = Object.entries<any>(compose.services).filter(([name]) => name.startsWith('node-'));
/** What a process gets that is not a setting of the service. */
const ofNodeItself = ['NODE_OPTIONS', 'NODE_ENV', 'NODE_COMPILE_CACHE'];
/** How long a node may take from SIGTERM to its end, after DRAIN_GRACE_MS: closeGraceMs and leaveGraceMs of src/node. */
const finishS = Array.from(
  (text('src/node/node.ts') + text('src/node/cluster.ts')).matchAll(/const (?:close|leave)GraceMs = ([\d_]+);/g),
  ([, ms]) => Number(ms!.replace('_', '')),
).reduce((sum, ms) => sum + ms / 1_000, 0);

test('the service knows every variable that a deployment sets', () => {
  const dockerfile = Array.from(text('Dockerfile').matchAll(/^ENV (.+)$/gm), ([, line]) => line!.split(' ')).flat();
  const named = [
    ...nodes.flatMap(([, node]) => Object.keys(node.environment)),
    ...Object.keys(settings),
    ...Object.keys(only('Secret').stringData),
    ...container.env.map(({ name }: { name: string }) => name),
    ...dockerfile.map((assignment) => assignment.split('=')[0]!),
  ];
  const unknown = named.filter((name) => !variableNames.includes(name) && !ofNodeItself.includes(name));
  assert.deepEqual([...new Set(unknown)], []);
});

test('the service accepts the settings of each node, and nodes differ in what must differ', () => {
  const given = { POSTGRES_PASSWORD: 'p', REDIS_PASSWORD: 'r', SECRET_KEY: 'k'.repeat(32) } as Record<string, string>;
  const filled = (value: string) => value.replace(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_, name, fallback) => given[name] ?? fallback ?? '');
  const configs = nodes.map(([, { environment }]) =>
    loadConfig(Object.fromEntries(Object.entries<string>(environment).map(([name, value]) => [name, filled(value)]))),
  );
  assert.equal(configs.length, 3);
  assert.equal(new Set(configs.map(({ nodeName }) => nodeName)).size, 3);
  for (const [i, [name]] of nodes.entries()) assert.equal(configs[i]!.clusterAnnounce, `${name}:${configs[i]!.clusterPort}`);
  assert.equal(new Set(configs.map(({ databaseUrl, redisUrl, secretKey }) => `${databaseUrl} ${redisUrl} ${secretKey}`)).size, 1);

  const pod = { NODE_NAME: 'troupe-5d9c7b6f4-abcde', CLUSTER_HOST: '10.1.2.3' };
  loadConfig({ ...settings, ...only('Secret').stringData, SECRET_KEY: 'k'.repeat(32), ...pod });
  assert.throws(
    () => loadConfig({ ...settings, ...only('Secret').stringData, ...pod }),
    /SECRET_KEY is a text of/,
    'an example is no secret',
  );
});

test('the example of the env file names every variable that compose.yaml takes from it', () => {
  const taken = new Set(Array.from(text('deploy/compose.yaml').matchAll(/\$\{(\w+)/g), ([, name]) => name!));
  const named = new Set(Array.from(text('deploy/.env.example').matchAll(/^(\w+)=/gm), ([, name]) => name!));
  assert.deepEqual([...taken].sort(), [...named].sort());
});

test('ports are the same in all files', () => {
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }: any) => [name, String(containerPort)]));
  assert.deepEqual(ports, { http: settings.PORT, cluster: settings.CLUSTER_PORT, metrics: settings.ADMIN_PORT });
  const { PORT, CLUSTER_PORT, ADMIN_PORT } = nodes[0]![1].environment;
  assert.deepEqual([PORT, CLUSTER_PORT, ADMIN_PORT], Object.values(ports));
  assert.match(text('Dockerfile'), new RegExp(`^EXPOSE ${PORT} ${CLUSTER_PORT} ${ADMIN_PORT}$`, 'm'));
  for (const [name] of nodes) assert.match(text('deploy/haproxy/haproxy.cfg'), new RegExp(`^ +server ${name} ${name}:${PORT}$`, 'm'));
  const [policy] = kubernetes.get('NetworkPolicy')!;
  assert.deepEqual(
    policy.spec.ingress.map(({ ports: [{ port }] }: any) => String(port)),
    Object.values(ports),
  );
  for (const service of kubernetes.get('Service')!) for (const { targetPort } of service.spec.ports) assert.ok(targetPort in ports);
  const { annotations } = only('Deployment').spec.template.metadata;
  assert.equal(annotations['prometheus.io/port'], ADMIN_PORT);
  assert.match(text('src/admin/admin-server.ts'), new RegExp(`'${annotations['prometheus.io/path']}'`));
});

test("probes use the service's endpoints: readiness for balancers, liveness for restarts", () => {
  const health = { version: '', node: '', startedAtMs: 0, readiness: () => 'ready', checks: {}, browser: () => noBrowser.health() };
  const paths = healthRoutes(health).map(({ path }) => path);
  const { startupProbe, readinessProbe, livenessProbe } = container;
  for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
    assert.ok(paths.includes(probe.httpGet.path), probe.httpGet.path);
    assert.equal(probe.httpGet.port, 'http');
  }
  assert.equal(readinessProbe.httpGet.path, '/health/ready');
  for (const probe of [startupProbe, livenessProbe]) assert.equal(probe.httpGet.path, '/health/live');
  const asked = [
    ...text('deploy/haproxy/haproxy.cfg').matchAll(/uri (\S+)/g),
    ...text('deploy/compose.yaml').matchAll(/8080(\/health\/\w+)/g),
  ];
  assert.deepEqual([...new Set(asked.map(([, path]) => path))], ['/health/ready', '/health/live']);
  assert.match(text('Dockerfile'), /\/health\/live/);
});

test('a stopping node has enough time', () => {
  assert.equal(finishS, 25);
  for (const [name, { stop_grace_period: grace, environment }] of nodes) {
    assert.ok(Number.parseInt(grace, 10) > Number(environment.DRAIN_GRACE_MS) / 1_000 + finishS, name);
  }
  const { terminationGracePeriodSeconds } = only('Deployment').spec.template.spec;
  const preStopS = Number(container.lifecycle.preStop.exec.command[1]);
  assert.ok(terminationGracePeriodSeconds > preStopS + Number(settings.DRAIN_GRACE_MS) / 1_000 + finishS);
});

test("the autoscaler reads the nodes' metric, by the rule in the README", async () => {
  const [{ pods }] = only('HorizontalPodAutoscaler').spec.metrics;
  const [rule] = parse(/```yaml\n(rules:[\s\S]*?)```/.exec(text('deploy/README.md'))![1]!).rules;
  assert.equal(rule.name.as, pods.metric.name);
  const metrics = new Metrics(noLog);
  metrics.addProcess();
  const [series] = rule.seriesQuery.split('{');
  assert.match(await metrics.text(), new RegExp(`^${series} `, 'm'));
});

test('balancers notice a leaving node before it stops accepting', () => {
  const [, inter] = /check inter (\d+)ms .*fall 1 /.exec(text('deploy/haproxy/haproxy.cfg'))!;
  assert.ok(Number(nodes[0]![1].environment.DRAIN_GRACE_MS) >= 2 * Number(inter));
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  assert.ok(Number(settings.DRAIN_GRACE_MS) >= 2_000 * periodSeconds * failureThreshold);
});

test('images are pinned', () => {
  const images = [...Object.values<any>(compose.services).map(({ image }) => image), container.image];
  for (const image of images) assert.match(image, /^[a-z]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
  const { version } = JSON.parse(text('package.json'));
  const own = [...nodes.map(([, { image }]) => image), container.image];
  for (const image of own) assert.equal(image, `troupe:${version}`);
  assert.equal(only('Kustomization').images[0].newTag, version);
});

test('manifests select the pods of the deployment, and each is in the kustomization but the example of the secret', () => {
  const { labels } = only('Deployment').spec.template.metadata;
  const selectors = [
    only('Deployment').spec.selector.matchLabels,
    only('PodDisruptionBudget').spec.selector.matchLabels,
    only('NetworkPolicy').spec.podSelector.matchLabels,
    ...kubernetes.get('Service')!.map(({ spec }) => spec.selector),
    ...only('Deployment').spec.template.spec.topologySpreadConstraints.map(({ labelSelector }: any) => labelSelector.matchLabels),
  ];
  for (const selector of selectors) assert.deepEqual(selector, labels);
  const files = globSync('deploy/kubernetes/*.yaml').map((path) => relative('deploy/kubernetes', path));
  const left = files.filter((file) => !only('Kustomization').resources.includes(file));
  assert.deepEqual(left.sort(), ['kustomization.yaml', 'secret.example.yaml']);
  for (const ref of container.envFrom) assert.equal((ref.configMapRef ?? ref.secretRef).name, 'troupe');
  assert.equal(only('HorizontalPodAutoscaler').spec.scaleTargetRef.name, only('Deployment').metadata.name);
});

test('the image holds every folder that the sources read', () => {
  const copied = Array.from(text('Dockerfile').matchAll(/^COPY (\w+) \1$/gm), ([, folder]) => folder!);
  const kept = Array.from(text('.dockerignore').matchAll(/^!(\w+)$/gm), ([, folder]) => folder!);
  const read = globSync('src/**/*.ts').flatMap((path) =>
    Array.from(
      text(path).matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g),
      ([, target]) => join(dirname(path), target!).split('/')[0]!,
    ),
  );
  for (const folder of new Set(['src', ...read])) assert.ok(copied.includes(folder) && kept.includes(folder), folder);
});
