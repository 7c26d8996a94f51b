/** The Pages projects of a stand-in for Cloudflare: direct uploads, deployments with their stages and logs. Typed by the types of Cloudflare's SDK. */
import { randomUUID } from 'node:crypto';
import type { LogGetResponse } from 'cloudflare/resources/pages/projects/deployments/history/logs';
import type {
  Deployment,
  Stage as DescribedStage,
  Project,
  ProjectGetUploadTokenResponse,
} from 'cloudflare/resources/pages/projects/projects';
import { bad, good } from './cloudflare-answers.ts';
import { formOf } from './form-data.ts';
import type { HostRequest, StandInAnswer } from './host-stand-in.ts';

type Stage = Pick<DescribedStage, 'name' | 'status'>;
export type PagesDeployment = {
  id: string;
  project: string;
  message: string;
  stage: Stage;
  isDeleted: boolean;
  files: Map<string, Buffer>;
  settings: Record<string, string>;
};

export class PagesProjects {
  readonly projects = new Map<string, { name: string; production_branch: string }>();
  readonly deployments: PagesDeployment[] = [];
  readonly contents = new Map<string, { bytes: Buffer; type: string }>();
  readonly noted = new Set<string>();
  /** What the next deployments pass through, one stage at each query. */
  stages: Stage[] = [];
  /** Deployments stay at their stage. */
  isStuck = false;
  /** Contents in the order in which they came. */
  readonly sent: Buffer[] = [];
  /** The lines of a deployment's log. */
  lines: string[] = [];
  maxFiles = 20_000;
  readonly uploadTokens = new Set<string>();
  private readonly siteUrl: () => string;

  constructor(siteUrl: () => string) {
    this.siteUrl = siteUrl;
  }

  /** Of the newest deployment that is live. */
  get live(): Map<string, Buffer> | null {
    return this.deployments.find(isLive)?.files ?? null;
  }

  /** @param path after `/pages/projects` */
  answer(path: string, request: HostRequest): StandInAnswer | Promise<StandInAnswer> {
    const { method, json } = request;
    if (path === '' && method === 'POST') return this.addProject(json as { name: string; production_branch: string });
    const [, name, rest = ''] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    const project = this.projects.get(name ?? '');
    if (project === undefined)
      return bad(404, 8_000_007, 'Project not found. The specified project name does not match any of your existing projects.');
    if (rest === '') {
      const live = this.deployments.find(isLive);
      return good({ ...shownProject(project), canonical_deployment: live === undefined ? null : this.shown(live) });
    }
    if (rest === 'upload-token') return good({ jwt: this.uploadToken(project.name) } satisfies ProjectGetUploadTokenResponse);
    if (rest === 'deployments') {
      if (method === 'POST') return this.deploy(project.name, request);
      const listed = this.deployments.filter((one) => one.project === project.name && !one.isDeleted);
      return good(listed.map((one) => this.shown(one)));
    }
    const [, id, log] = /^deployments\/([^/]+)(\/history\/logs)?$/.exec(rest) ?? [];
    const deployment = this.deployments.find((one) => one.id === id && !one.isDeleted);
    if (deployment === undefined) return bad(404, 8_000_009, 'Deployment not found.');
    if (log !== undefined) {
      const data = this.lines.map((line) => ({ line, ts: new Date(0).toISOString() }));
      return good({ data, includes_container_logs: false, total: data.length } satisfies LogGetResponse);
    }
    if (method === 'DELETE') {
      if (deployment === this.deployments.find(isLive)) return bad(400, 8_000_034, 'Cannot delete the active production deployment.');
      deployment.isDeleted = true;
      return good(null);
    }
    if (!this.isStuck) deployment.stage = this.stages.shift() ?? { name: 'deploy', status: 'success' };
    return good(this.shown(deployment));
  }

  /** @param path whole, `/pages/assets/…` */
  assets(path: string, request: HostRequest): StandInAnswer {
    if (!this.uploadTokens.has(request.token)) return bad(401, 8_000_013, 'Authorization failed');
    if (path.endsWith('/upload')) {
      for (const one of request.json as { key: string; value: string; metadata: { contentType: string }; base64: true }[]) {
        const bytes = Buffer.from(one.value, 'base64');
        this.contents.set(one.key, { bytes, type: one.metadata.contentType });
        this.sent.push(bytes);
      }
      return good({ successful_key_count: (request.json as unknown[]).length, unsuccessful_keys: [] });
    }
    const { hashes } = request.json as { hashes: string[] };
    if (path.endsWith('/check-missing')) return good(hashes.filter((hash) => !this.contents.has(hash)));
    for (const hash of hashes) this.noted.add(hash);
    return good(null);
  }

  private addProject(project: { name: string; production_branch: string }): StandInAnswer {
    if (this.projects.has(project.name))
      return bad(409, 8_000_002, 'A project with this name already exists. Choose a different project name.');
    if (!/^[a-z0-9][a-z0-9-]{0,57}$/.test(project.name)) return bad(400, 8_000_000, 'The project name is not valid.');
    this.projects.set(project.name, project);
    return good(shownProject(project));
  }

  private uploadToken(project: string): string {
    const claims = { project, exp: 4_102_444_800, max_file_count_allowed: this.maxFiles, id: randomUUID() };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmVk`;
    this.uploadTokens.add(token);
    return token;
  }

  private async deploy(project: string, request: HostRequest): Promise<StandInAnswer> {
    const fields = Object.fromEntries((await formOf(request)).map(({ name, bytes }) => [name, bytes.toString('utf8')]));
    const { manifest = 'null', commit_message: message = '', ...settings } = fields;
    const entries = Object.entries((JSON.parse(manifest) as Record<string, string> | null) ?? {});
    if (entries.length === 0) return bad(400, 8_000_096, 'A "manifest" field was expected in the request body but was not provided.');
    if (entries.some(([path, hash]) => !path.startsWith('/') || !this.contents.has(hash)))
      return bad(400, 8_000_013, 'A file of the manifest is unknown');
    const files = new Map(entries.map(([path, hash]) => [path, this.contents.get(hash)!.bytes]));
    const deployment: PagesDeployment = {
      id: randomUUID(),
      project,
      message,
      stage: { name: 'queued', status: 'active' },
      isDeleted: false,
      files,
      settings,
    };
    this.deployments.unshift(deployment);
    return good(this.shown(deployment));
  }

  private shown({ id, project, message, stage }: PagesDeployment): Partial<Deployment> {
    const described = { ...stage, started_on: null, ended_on: null } satisfies DescribedStage;
    return {
      id,
      short_id: id.slice(0, 8),
      project_id: project,
      project_name: project,
      environment: 'production',
      url: this.siteUrl(),
      aliases: null,
      is_skipped: false,
      stages: [described],
      latest_stage: described,
      deployment_trigger: { type: 'ad_hoc', metadata: { branch: 'main', commit_hash: '', commit_message: message, commit_dirty: false } },
    };
  }
}

function shownProject({ name, production_branch }: { name: string; production_branch: string }): Partial<Project> {
  return { id: name, name, production_branch, subdomain: `${name}.pages.dev` };
}

export function isLive({ stage }: PagesDeployment): boolean {
  return stage.name === 'deploy' && stage.status === 'success';
}
