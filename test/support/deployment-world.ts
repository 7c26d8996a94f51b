/** Deployments in their own runtime: the actors with their effects and routes, a scripted host, and a scripted site. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { SteadyClock } from '../../src/clock.ts';
import type { Builder } from '../../src/domains/deployments/build/builder.ts';
import { accessOf } from '../../src/domains/deployments/configs/access.ts';
import type { DeployConfig } from '../../src/domains/deployments/configs/config.ts';
import { deployConfigsActor } from '../../src/domains/deployments/configs/configs.ts';
import { credentialBox, openCredentials } from '../../src/domains/deployments/configs/credentials.ts';
import { deployConfigs } from '../../src/domains/deployments/configs/messages.ts';
import { deploymentActor } from '../../src/domains/deployments/deployment/deployment.ts';
import { deploymentEffects } from '../../src/domains/deployments/deployment/effects.ts';
import type { DeploymentRow } from '../../src/domains/deployments/deployment/entity.ts';
import { deployment } from '../../src/domains/deployments/deployment/messages.ts';
import { type DeploymentView, deploymentView } from '../../src/domains/deployments/deployment/view.ts';
import { defaultApiUrls, type FindHost } from '../../src/domains/deployments/hosts/catalogue.ts';
import type { HostCalls } from '../../src/domains/deployments/hosts/host.ts';
import { DeployFailed } from '../../src/domains/deployments/hosts/host-failure.ts';
import { maskOf } from '../../src/domains/deployments/hosts/mask.ts';
import { creationGate } from '../../src/domains/deployments/low-priority.ts';
import { deploymentRoutes } from '../../src/domains/deployments/routes/deployments.ts';
import type { Snapshots } from '../../src/domains/deployments/snapshot/site.ts';
import { openSnapshots } from '../../src/domains/deployments/snapshot/snapshots.ts';
import { newContentKey } from '../../src/domains/workspaces/contract.ts';
import { workspaceActor } from '../../src/domains/workspaces/workspace/workspace.ts';
import type { Principal } from '../../src/edge/auth/principal.ts';
import { newId } from '../../src/ids.ts';
import type { Mode } from '../../src/mode.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import type { Database } from '../../src/storage/database.ts';
import { startEdge } from './http-edge.ts';
import type { Json } from './json.ts';
import { insertNeutralRow } from './neutral-row.ts';
import { type TestRuntime, type TestRuntimeOptions, testRuntime } from './runtime.ts';
import type { Scope } from './scope.ts';
import { ScriptedDeployHost } from './scripted-deploy-host.ts';
import { until } from './until.ts';

export const deployToken = 'secret-token';
const publicUrl = 'https://troupe.test';

export type DeploymentWorld = Awaited<ReturnType<typeof deploymentWorld>>;
export type DeploymentWorldOptions = TestRuntimeOptions & {
  timeoutMs?: number;
  probeMs?: number;
  secondSearchMs?: number;
  openBuilder?: (snapshots: Snapshots) => Builder;
  findHost?: FindHost;
};

export async function deploymentWorld(t: Scope, options: DeploymentWorldOptions = {}) {
  const {
    timeoutMs = 1_800_000,
    probeMs = 60_000,
    secondSearchMs = 120_000,
    openBuilder = () => noBuilder,
    findHost,
    ...runtimeOptions
  } = options;
  const clock = new SteadyClock();
  const host = new ScriptedDeployHost();
  const site = await startSite(t);
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  const contents = new Map<string, Buffer>();
  const files = {
    put: async (key: string, content: Readable) => {
      const bytes = await buffer(content);
      contents.set(key, bytes);
      return { sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
    open: async (key: string) => Readable.from([contents.get(key)!]),
    remove: async (key: string) => void contents.delete(key),
  };
  const box = credentialBox('a secret key of this test, long enough');
  // The runtime is replaced when it crashes: what uses it asks for the present one.
  let runtime: TestRuntime;
  const actors = {
    ask: (...args: Parameters<TestRuntime['actors']['ask']>) => runtime.actors.ask(...args),
    query: (...args: Parameters<TestRuntime['actors']['query']>) => runtime.actors.query(...args),
  } as TestRuntime['actors'];
  const snapshots = new Proxy({} as Snapshots, {
    get: (_target, name: keyof Snapshots) =>
      openSnapshots({ database: runtime.database, files: files as never, limitsOf: async () => ({ bytes: -1, files: -1 }) })[name],
  });
  const database = new Proxy({} as Database, {
    get(_target, name) {
      const value: unknown = Reflect.get(runtime.database, name);
      return typeof value === 'function' ? value.bind(runtime.database) : value;
    },
  });
  const builder = openBuilder(snapshots);
  const parts = {
    ...{
      actors,
      database,
      clock,
      outbound,
      snapshots,
      builder,
      maskOf,
      apiUrls: defaultApiUrls,
      contentTurns: () => async () => {},
      creations: creationGate({ lane: () => ({ turn: async () => {} }), waitingRequests: 0 }),
    },
    findHost: findHost ?? ((): typeof host.host => host.host),
    accessOf: (config: DeployConfig) => accessOf(config, openCredentials(box, config), {} as HostCalls),
  };
  const effects = deploymentEffects(parts);
  const actor = deploymentActor({
    effects,
    shown: (row) => deploymentView(row, publicUrl),
    ...{ timeoutMs, probeMs, secondSearchMs },
  });
  runtime = await testRuntime([actor, deployConfigsActor, workspaceActor] as AnyActor[], { clock, ...runtimeOptions });
  const edge = await startEdge(deploymentRoutes({ ...parts, publicUrl: () => publicUrl }), { authenticate: principalOf });
  t.after(async () => {
    await edge.server.close(0);
    await builder.stop();
    await runtime.close();
    await outbound.close();
  });
  const accountId = newId('acct_', null);
  host.states = [{ kind: 'live', url: site.url }];

  const world = {
    ...{ runtime, clock, host, site, contents, accountId, snapshots, actors, effects },
    async configure(more: Partial<DeployConfig> = {}): Promise<DeployConfig> {
      const id = more.id ?? newId('cfg_', accountId);
      const config: DeployConfig = {
        ...{ id, mode: 'live', name: `of ${id}`, target: 'vercel', buildCommand: null, outputDir: null, project: null, team: null },
        ...{ url: null, credentials: box.seal({ token: deployToken }, id), kept: {}, verifiedAt: null, createdAt: clock.nowMs() },
        ...more,
      };
      return actors.ask(deployConfigs, accountId, 'add', config);
    },
    async workspace(content: Record<string, string> = { 'index.html': '<h1>Hello</h1>' }): Promise<string> {
      const id = newId('ws_', accountId);
      await insertNeutralRow(runtime.database, 'workspace', { id, account_id: accountId, name: id, status: 'active' });
      for (const [name, text] of Object.entries(content)) await world.write(id, name, text);
      return id;
    },
    async write(workspaceId: string, name: string, text: string): Promise<void> {
      const fileId = newId('wsf_', accountId);
      const contentKey = newContentKey(workspaceId, fileId, accountId);
      const { sizeBytes, sha256 } = await files.put(contentKey, Readable.from([Buffer.from(text)]));
      await runtime.sql('delete from workspace_file where workspace_id = $1 and name = $2', [workspaceId, name]);
      await insertNeutralRow(runtime.database, 'workspace_file', {
        ...{ id: fileId, workspace_id: workspaceId, account_id: accountId, name, type: 'text/html', status: 'present' },
        ...{ size_bytes: sizeBytes, sha256, content_key: contentKey },
      });
    },
    async send(method: string, path: string, body?: unknown, as = `${accountId} live`): Promise<{ status: number; json: Json }> {
      const headers = { authorization: `Bearer ${as}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const response = await fetch(edge.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const text = await response.text();
      return { status: response.status, json: text === '' ? null : JSON.parse(text) };
    },
    async deploy(body: Record<string, unknown>, mode: Mode = 'live'): Promise<string> {
      const { status, json } = await world.send('POST', '/v1/deployments', { target: 'vercel', ...body }, `${accountId} ${mode}`);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
      return json.id;
    },
    row: async (id: string): Promise<DeploymentRow> => (await actors.query(deployment, id, 'get', null))!,
    async ended(id: string): Promise<DeploymentRow> {
      await until(async () => ['live', 'failed'].includes((await world.row(id)).status), 'the end of a deployment');
      return world.row(id);
    },
    /** Types of its events, in order, without the lines of its log. */
    events: (id: string): string[] => world.eventsOf(id).map(({ type }) => type.slice('deployment.'.length)),
    eventsOf: (id: string): { type: string; shown: DeploymentView }[] =>
      runtime.events
        .filter(({ type }) => type.startsWith('deployment.') && type !== 'deployment.log')
        .map(({ type, data }) => ({ type, shown: JSON.parse(data.text).deployment as DeploymentView }))
        .filter(({ shown }) => shown.id === id),
    lines: async (id: string): Promise<string[]> =>
      (await runtime.sql('select text from deployment_log where deployment_id = $1 order by line', [id])).map(({ text }) => text),
  };
  return world;
}

/** `Bearer acct_… live|test` */
function principalOf(request: { header(name: string): string }): Principal | null {
  const [, accountId, mode] = /^Bearer (acct_\w+) (live|test)$/.exec(request.header('authorization')) ?? [];
  if (accountId === undefined) return null;
  const scopes = new Set(['workspaces.read', 'workspaces.write']);
  return { accountId, userId: 'usr_1', kind: 'api_key', scopes, mode: mode as Mode, id: 'key-1' };
}

async function startSite(t: Scope) {
  const site = { url: '', status: 200, requests: 0 };
  const server = createServer((_request, response) => {
    site.requests++;
    response.writeHead(site.status).end('<h1>Hello</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

const noBuilder: Builder = {
  refusal: async () => 'No builds here',
  build: () => Promise.reject(new DeployFailed('build_failed', 'No builds here')),
  stop: async () => {},
};
