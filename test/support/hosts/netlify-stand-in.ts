/**
 * A stand-in of Netlify's API. Shapes: netlify/open-api 650803172c55155ec34dcad94602e058477a4a98, swagger.yml 2.60.0 and go/porcelain/deploy.go; netlify/cli
 * 88ece2915554fbb121d69143fa4799b7559d2cdd, src/utils/deploy. shape_seen 2026-11-23. Its own npm client is the second side: official-clients.test.ts.
 */
import { createHash } from 'node:crypto';
import type { Json } from '../json.ts';
import { type HostRequest, HostStandIn, type StandInAnswer } from './host-stand-in.ts';

export type NetlifyDeploy = {
  id: string;
  siteId: string;
  title: string;
  /** SHA-1 by path, without a slash at its beginning. */
  hashes: Map<string, string>;
  state: 'preparing' | 'prepared' | 'uploading' | 'uploaded' | 'processing' | 'ready' | 'error';
  required: Set<string>;
  errorMessage: string | null;
};

export class NetlifyStandIn extends HostStandIn {
  /** By SHA-1. */
  readonly contents = new Map<string, Buffer>();
  /** In the order in which they came. */
  readonly uploads: Buffer[] = [];
  /** Name by id. */
  readonly sites = new Map<string, string>();
  readonly deploys: NetlifyDeploy[] = [];
  /** `none`: they stay uploaded. */
  next: 'ready' | 'fails' | 'none' = 'ready';
  private live: NetlifyDeploy | null = null;
  private sitesMade = 0;
  private deploysMade = 0;

  override get apiUrl(): string {
    return `${this.url}/api/v1`;
  }

  protected override answer(request: HostRequest): StandInAnswer {
    const { method, path, query, json } = request;
    if (!this.tokens.has(request.token)) return refused(401, `Access Denied: ${request.token}`);
    const parts = path.split('/').slice(3).map(decodeURIComponent);
    const [kind, id, what] = parts;
    const route = `${method} ${path.slice('/api/v1'.length)}`;
    if (route === 'GET /user')
      return { status: 200, json: { id: 'u1', full_name: 'Tester', email: 'a@example.com', site_count: this.sites.size } };
    if (route === 'POST /sites' || (method === 'POST' && id === 'sites')) return this.makeSite(json);
    if (route === 'GET /sites' || (method === 'GET' && id === 'sites'))
      return {
        status: 200,
        json: [...this.sites].filter(([, name]) => name.includes(query.get('name') ?? '')).map(([one]) => this.shownSite(one)),
      };
    if (kind === 'sites' && !this.sites.has(id!)) return refused(404, 'Not Found');
    if (kind === 'sites' && what === undefined && method === 'GET') return { status: 200, json: this.shownSite(id!) };
    if (kind === 'sites' && what === undefined && method === 'DELETE') return { status: this.sites.delete(id!) ? 204 : 404 };
    if (kind === 'sites' && what === 'deploys' && parts.length === 3) return method === 'POST' ? this.create(id!, request) : this.list(id!);
    const deploy = this.deploys.find((one) => one.id === (kind === 'sites' ? parts[3] : id));
    if (deploy === undefined) return refused(404, 'Not Found');
    if (method === 'GET' && (parts.length === 2 || (kind === 'sites' && parts.length === 4))) return this.show(deploy);
    if (kind === 'deploys' && method === 'PUT' && what === 'files') return this.upload(deploy, parts.slice(3).join('/'), request);
    if (kind === 'deploys' && method === 'POST' && what === 'cancel') return this.cancel(deploy);
    if (kind === 'deploys' && method === 'DELETE' && parts.length === 2) return this.remove(deploy);
    return refused(404, 'Not Found');
  }

  protected override fileOf(path: string): Buffer | undefined {
    const hash = this.live?.hashes.get(path);
    return hash === undefined ? undefined : this.contents.get(hash);
  }

  private makeSite(json: Json): StandInAnswer {
    const name = json?.name ?? `site-of-tests-${this.sitesMade}`;
    if ([...this.sites.values()].includes(name)) return { status: 422, json: { errors: { subdomain: ['must be unique'] } } };
    this.sitesMade += 1;
    const id = `site-${this.sitesMade}`;
    this.sites.set(id, name);
    return { status: 201, json: this.shownSite(id) };
  }

  private create(siteId: string, { json, query }: HostRequest): StandInAnswer {
    const given = Object.entries((json?.files ?? {}) as Record<string, string>);
    const bad = given.find(([path, hash]) => /[#?]/.test(path) || !/^[0-9a-f]{40}$/.test(hash));
    if (given.length === 0 || bad !== undefined) return refused(422, `Invalid files ${bad?.[0] ?? ''}`);
    const hashes = new Map(given.map(([path, hash]) => [path.replace(/^\//, ''), hash]));
    const deploy: NetlifyDeploy = {
      ...{ id: `deploy-${++this.deploysMade}`, siteId, title: query.get('title') ?? '', hashes, errorMessage: null },
      ...{ state: json.async === true ? 'preparing' : 'uploading', required: new Set() },
    };
    this.deploys.push(deploy);
    if (deploy.state === 'uploading') this.compare(deploy);
    return { status: 200, json: this.shown(deploy) };
  }

  private list(siteId: string): StandInAnswer {
    const deploys = this.deploys.filter((deploy) => deploy.siteId === siteId).reverse();
    return { status: 200, json: deploys.map((deploy) => this.shown(deploy)) };
  }

  private show(deploy: NetlifyDeploy): StandInAnswer {
    const answer = { status: 200, json: this.shown(deploy) };
    if (deploy.state === 'preparing') this.compare(deploy);
    else if (deploy.state === 'uploaded' && this.next === 'fails')
      Object.assign(deploy, { state: 'error', errorMessage: 'Deploy failed: post processing failed' });
    else if (deploy.state === 'uploaded' && this.next === 'ready') deploy.state = 'processing';
    else if (deploy.state === 'processing') {
      deploy.state = 'ready';
      this.live = deploy;
    }
    return answer;
  }

  private compare(deploy: NetlifyDeploy): void {
    deploy.required = new Set([...deploy.hashes.values()].filter((hash) => !this.contents.has(hash)));
    deploy.state = deploy.required.size === 0 ? 'uploaded' : 'prepared';
  }

  private upload(deploy: NetlifyDeploy, path: string, { bytes }: HostRequest): StandInAnswer {
    this.uploads.push(bytes);
    const hash = createHash('sha1').update(bytes).digest('hex');
    if (deploy.hashes.get(path) !== hash) return refused(422, `The content of ${path} is not the one that was named`);
    this.contents.set(hash, bytes);
    deploy.required.delete(hash);
    if (deploy.state === 'prepared' || deploy.state === 'uploading') deploy.state = deploy.required.size === 0 ? 'uploaded' : 'uploading';
    return { status: 200, json: { id: `/${path}`, path: `/${path}`, sha: hash, mime_type: 'text/plain', size: bytes.length } };
  }

  private cancel(deploy: NetlifyDeploy): StandInAnswer {
    if (deploy.state === 'ready' || deploy.state === 'error') return refused(422, 'The deploy has ended');
    Object.assign(deploy, { state: 'error', errorMessage: 'Canceled by user' });
    return { status: 201, json: this.shown(deploy) };
  }

  private remove(deploy: NetlifyDeploy): StandInAnswer {
    if (deploy === this.live) return refused(422, 'The deploy is published');
    this.deploys.splice(this.deploys.indexOf(deploy), 1);
    return { status: 204 };
  }

  private shown({ id, siteId, title, state, required, errorMessage }: NetlifyDeploy) {
    const url = `http://${this.siteHost}`;
    const ended = state === 'ready' ? '2026-11-23T10:00:00Z' : null;
    return {
      ...{ id, site_id: siteId, build_id: id, state, name: this.sites.get(siteId), title, required: [...required], required_functions: [] },
      ...{ url, ssl_url: url, deploy_url: url, deploy_ssl_url: url, error_message: errorMessage, context: 'production', draft: false },
      ...{ created_at: '2026-11-23T09:00:00Z', updated_at: '2026-11-23T09:00:00Z', published_at: ended, locked: false },
    };
  }

  private shownSite(id: string) {
    const url = `http://${this.siteHost}`;
    const published = this.live?.siteId === id ? { published_deploy: this.shown(this.live) } : {};
    return {
      id,
      name: this.sites.get(id),
      state: 'current',
      plan: 'nf_team_dev',
      url,
      ssl_url: url,
      account_slug: 'tester',
      ssl: true,
      ...published,
    };
  }
}

function refused(status: number, message: string): StandInAnswer {
  return { status, json: { code: status, message } };
}
