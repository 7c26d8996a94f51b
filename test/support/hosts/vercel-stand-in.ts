/**
 * A stand-in of Vercel's API. Shapes: vercel/vercel 17d9ebaf8e9b335d550dea1a243743a74edc772e, packages/client/src/{deploy,upload,check-deployment-status,types}.ts
 * and packages/cli/test/mocks/deployment.ts; vercel.com/docs/rest-api for /v2/user, /v2/files, the list, the cancellation, the deletion and the project. shape_seen 2026-11-23.
 * Its own npm client is the second side (official-clients.test.ts), the description of its API the third (vendor-shapes.test.ts).
 */
import { createHash } from 'node:crypto';
import type { Json } from '../json.ts';
import { type HostRequest, HostStandIn, type StandInAnswer } from './host-stand-in.ts';

type State = 'QUEUED' | 'BUILDING' | 'READY' | 'ERROR' | 'CANCELED' | 'BLOCKED';
export type VercelDeployment = {
  id: string;
  name: string;
  meta: Record<string, string>;
  target: string | null;
  /** Content by path. */
  files: Map<string, Buffer>;
  readyState: State;
  aliasAssigned: number | null;
  aliasError: { code: string; message: string } | null;
  errorMessage?: string;
  errorCode?: string;
};

export class VercelStandIn extends HostStandIn {
  /** By SHA-1. */
  readonly contents = new Map<string, Buffer>();
  /** In the order in which they came. */
  readonly uploads: Buffer[] = [];
  readonly deployments: VercelDeployment[] = [];
  readonly projects = new Set<string>();
  private made = 0;
  /** `none`: they stay as they are. */
  next: 'ready' | 'build_fails' | 'alias_fails' | 'none' = 'ready';
  /** The next query of a deployment answers its final state instead of its next step. */
  quick = false;
  private live: VercelDeployment | null = null;

  protected override answer(request: HostRequest): StandInAnswer {
    const { method, path } = request;
    if (!this.tokens.has(request.token)) return refused(403, 'forbidden', `Not authorized: ${request.token}`, { invalidToken: true });
    const route = `${method} ${path}`;
    if (route === 'GET /v2/user')
      return { status: 200, json: { user: { id: 'user_1', email: 'a@example.com', name: null, username: 'tester' } } };
    if (route === 'POST /v2/files') return this.upload(request);
    if (route === 'POST /v13/deployments') return this.create(request);
    if (route === 'GET /v6/deployments') return this.list(request);
    const [, version, id, more] = /^\/(v\d+)\/deployments\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const deployment = this.deployments.find((one) => one.id === id);
    if (method === 'GET' && path.startsWith('/v9/projects/')) return this.project(decodeURIComponent(path.slice('/v9/projects/'.length)));
    if (version === 'v13' && method === 'DELETE' && more === undefined) return this.remove(deployment);
    if (version === 'v13' && method === 'GET' && more === undefined) {
      if (deployment === undefined) return refused(404, 'not_found', 'Deployment not found');
      for (let steps = 0; this.quick && steps < 3; steps += 1) this.walk(deployment);
      const answer = { status: 200, json: this.shown(deployment) };
      this.walk(deployment);
      return answer;
    }
    if (version === 'v12' && method === 'PATCH' && more === '/cancel') return this.cancel(deployment);
    return refused(404, 'not_found', `No such path: ${path}`);
  }

  protected override fileOf(path: string): Buffer | undefined {
    return this.live?.files.get(path);
  }

  private upload({ headers, bytes }: HostRequest): StandInAnswer {
    const digest = headers['x-vercel-digest'] ?? headers['x-now-digest'];
    this.uploads.push(bytes);
    if (digest !== sha1(bytes)) return refused(400, 'invalid_digest', 'The digest does not match the content');
    this.contents.set(digest, bytes);
    return { status: 200, json: { urls: [] } };
  }

  private create({ json, query }: HostRequest): StandInAnswer {
    const { name, files, meta = {}, target = null, projectSettings } = (json ?? {}) as Json;
    if (typeof name !== 'string' || !/^[a-z0-9._-]{1,100}$/.test(name))
      return refused(400, 'bad_request', 'Invalid request: `name` is wrong');
    if (!Array.isArray(files) || files.length === 0) return refused(400, 'bad_request', 'Invalid request: `files` is missing');
    if (!this.projects.has(name) && projectSettings === undefined && query.get('skipAutoDetectionConfirmation') !== '1')
      return refused(400, 'missing_project_settings', 'The `projectSettings` object is required for new projects');
    const given = new Map<string, Buffer>();
    const missing = new Set<string>();
    for (const { file, sha, data, encoding } of files as Json[]) {
      if (typeof file !== 'string' || file.startsWith('/') || given.has(file))
        return refused(400, 'bad_request', `Invalid request: ${file}`);
      const content = typeof data === 'string' ? Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8') : this.contents.get(sha);
      if (content === undefined) missing.add(sha);
      else given.set(file, content);
    }
    if (missing.size > 0) return refused(400, 'missing_files', 'Missing files', { missing: [...missing] });
    this.projects.add(name);
    const id = `dpl_${++this.made}`;
    const deployment: VercelDeployment = {
      ...{ id, name, meta, target, files: given },
      ...{ readyState: 'QUEUED', aliasAssigned: null, aliasError: null },
    };
    this.deployments.push(deployment);
    return { status: 200, json: this.shown(deployment) };
  }

  private list({ query }: HostRequest): StandInAnswer {
    const wanted = [...query].filter(([name]) => name.startsWith('meta-')).map(([name, value]) => [name.slice(5), value] as const);
    const found = this.deployments.filter(({ meta }) => wanted.every(([name, value]) => meta[name] === value)).reverse();
    const deployments = found.slice(0, Number(query.get('limit') ?? 20)).map((one) => this.listed(one));
    return { status: 200, json: { deployments, pagination: { count: deployments.length, next: null, prev: null } } };
  }

  private cancel(deployment: VercelDeployment | undefined): StandInAnswer {
    if (deployment === undefined) return refused(404, 'not_found', 'Deployment not found');
    if (deployment.readyState !== 'QUEUED' && deployment.readyState !== 'BUILDING')
      return refused(400, 'bad_request', 'The deployment cannot be cancelled');
    deployment.readyState = 'CANCELED';
    return { status: 200, json: this.shown(deployment) };
  }

  private project(name: string): StandInAnswer {
    if (!this.projects.has(name)) return refused(404, 'not_found', 'Project not found');
    const targets = this.live === null ? {} : { production: this.shown(this.live) };
    return { status: 200, json: { id: `prj_${name}`, name, accountId: 'user_1', targets } };
  }

  private remove(deployment: VercelDeployment | undefined): StandInAnswer {
    if (deployment === undefined) return refused(404, 'not_found', 'Deployment not found');
    this.deployments.splice(this.deployments.indexOf(deployment), 1);
    if (this.live === deployment) this.live = null;
    return { status: 200, json: { uid: deployment.id, state: 'DELETED' } };
  }

  /** Each query advances the deployment by one step. */
  private walk(deployment: VercelDeployment): void {
    if (this.next === 'none' || deployment.aliasAssigned !== null || deployment.aliasError !== null) return;
    if (deployment.readyState === 'QUEUED') deployment.readyState = 'BUILDING';
    else if (deployment.readyState === 'BUILDING' && this.next === 'build_fails')
      Object.assign(deployment, { readyState: 'ERROR', errorCode: 'BUILD_FAILED', errorMessage: 'Command "vercel build" exited with 1' });
    else if (deployment.readyState === 'BUILDING') deployment.readyState = 'READY';
    else if (deployment.readyState === 'READY' && this.next === 'alias_fails')
      deployment.aliasError = { code: 'cert_missing', message: 'The certificate of the alias is missing' };
    else if (deployment.readyState === 'READY') {
      deployment.aliasAssigned = 1_700_000_000_000;
      this.live = deployment;
    }
  }

  private listed({ files, id, ...deployment }: VercelDeployment) {
    const createdAt = 1_700_000_000_000;
    return {
      ...{ uid: id, ...deployment, url: this.siteHost, inspectorUrl: inspectorOf({ id, ...deployment }) },
      ...{ createdAt, type: 'LAMBDAS', state: deployment.readyState },
    };
  }

  private shown({ files, aliasAssigned, ...deployment }: VercelDeployment) {
    return {
      ...{ ...deployment, aliasAssigned: aliasAssigned !== null },
      ...{ url: this.siteHost, inspectorUrl: inspectorOf(deployment), version: 2, plan: 'hobby' },
      ...{
        alias: [],
        regions: ['iad1'],
        public: false,
        ownerId: 'user_1',
        createdIn: 'sfo1',
        createdAt: 1_700_000_000_000,
        type: 'LAMBDAS',
      },
      ...{ build: { env: [] }, env: [], routes: null, status: deployment.readyState },
    };
  }
}

function inspectorOf({ id, name }: Pick<VercelDeployment, 'id' | 'name'>): string {
  return `https://vercel.com/tester/${name}/${id}`;
}

function refused(status: number, code: string, message: string, more: object = {}): StandInAnswer {
  return { status, json: { error: { code, message, ...more } } };
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}
