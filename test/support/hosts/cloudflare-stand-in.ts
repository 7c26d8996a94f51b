/**
 * Speaks like Cloudflare's API v4, as far as deployments need it: Workers with static assets, and Pages by direct upload. Shapes of Workers: the guide of direct
 * uploads (cloudflare/cloudflare-docs, 298486856c34), Cloudflare's own client (cloudflare/workers-sdk, f8308360283f) and its SDK (npm cloudflare, 7.3.0). Of
 * Pages, check-missing, upload and upsert-hashes are in that client alone. shape_seen 2026-11-23; not tried against the true service.
 */
import { bad, good } from './cloudflare-answers.ts';
import type { HostRequest, StandInAnswer } from './host-stand-in.ts';
import { HostStandIn } from './host-stand-in.ts';
import { PagesProjects } from './pages-projects.ts';
import { WorkerScripts } from './worker-scripts.ts';

/** The account that its token belongs to. */
export const goodAccount = '023e105f4ecef8ad9ca31a8372d0c353';

export class CloudflareStandIn extends HostStandIn {
  readonly scripts = new WorkerScripts();
  readonly projects = new PagesProjects(() => `http://${this.siteHost}`);
  /** Of workers.dev; null: none is registered. */
  subdomain: string | null = 'of-tests';
  /** What the token's check says. */
  tokenStatus = 'active';
  /** Such a token is known by its account alone. */
  readonly accountTokens = new Set<string>();

  override get apiUrl(): string {
    return `${this.url}/client/v4`;
  }

  protected override fileOf(path: string): Buffer | undefined {
    return (this.scripts.live ?? this.projects.live)?.get(`/${path}`);
  }

  protected override answer(request: HostRequest): StandInAnswer | Promise<StandInAnswer> {
    const path = request.path.replace(/^\/client\/v4/, '');
    // The tokens of uploads are no tokens of the account.
    if (/^\/accounts\/[^/]+\/workers\/assets\/upload$/.test(path)) return this.scripts.upload(request);
    if (path.startsWith('/pages/assets/')) return this.projects.assets(path, request);
    if (path === '/user/tokens/verify') {
      if (!this.tokens.has(request.token)) return bad(401, 1000, 'Invalid API Token');
      return good({ id: 'ed17574386854bf78a67040be0a770b0', status: this.tokenStatus });
    }
    const isKnown = this.tokens.has(request.token) || this.accountTokens.has(request.token);
    const [, account, rest] = /^\/accounts\/([^/]+)(.*)$/.exec(path) ?? [];
    if (!isKnown || account !== goodAccount) return bad(403, 10_000, 'Authentication error');
    if (rest === '') return good({ id: goodAccount, name: 'Tests', type: 'standard' });
    if (rest === '/workers/subdomain')
      return this.subdomain === null ? bad(404, 10_007, 'workers.dev subdomain not found') : good({ subdomain: this.subdomain });
    if (rest!.startsWith('/workers/scripts/')) return this.scripts.answer(rest!.slice('/workers/scripts/'.length), request);
    if (rest!.startsWith('/pages/projects')) return this.projects.answer(rest!.slice('/pages/projects'.length), request);
    return bad(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`);
  }
}
