/** What a host is called with, with a site that is in memory. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { machineClock } from '../../../src/clock.ts';
import { hostCalls } from '../../../src/domains/deployments/hosts/calls.ts';
import type { Host, HostAccess, Publication } from '../../../src/domains/deployments/hosts/host.ts';
import type { SiteFile } from '../../../src/domains/deployments/snapshot/site.ts';
import type { Outbound } from '../../../src/providers/outbound/port.ts';

export type Site = Record<string, string | Buffer>;

export type PublishingOptions = {
  host: Host;
  outbound: Outbound;
  apiUrl: string;
  credentials: Record<string, string>;
  deploymentId: string;
  site: Site;
  project?: string;
  url?: string | null;
};

const types: Record<string, string> = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  png: 'image/png',
};

/** One deployment of one configuration, with what it has told so far: `publish` may be called again, as after a crash. */
export class Publishing {
  readonly lines: string[] = [];
  readonly created: string[] = [];
  readonly kept: Record<string, string> = {};
  readonly pauses: number[] = [];
  readonly opened: string[] = [];
  readonly abort = new AbortController();
  readonly files: readonly SiteFile[];
  readonly access: HostAccess;
  private readonly options: PublishingOptions;

  constructor(options: PublishingOptions) {
    this.options = options;
    const { host, outbound, apiUrl, credentials, site, project = 'my-site', url = null } = options;
    this.files = filesOf(site);
    const pause = async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted();
      this.pauses.push(ms);
    };
    const calls = hostCalls({ outbound, clock: machineClock, apiUrl, title: host.title, accountId: 'acct_1', credentials, pause });
    this.access = { credentials, project, projectGiven: options.project !== undefined, team: null, url, kept: this.kept, calls };
  }

  /** @param isRepeat after an earlier try that ended at any point */
  async publish(isRepeat = false): Promise<string> {
    const { providerId } = await this.options.host.publish(this.access, this.publication(isRepeat));
    return providerId;
  }

  publication(isRepeat: boolean): Publication {
    const { deploymentId, site } = this.options;
    return {
      ...{ deploymentId, files: this.files, isRepeat, providerId: this.created[0] ?? null, signal: this.abort.signal },
      open: async ({ path }) => {
        this.opened.push(path);
        return Readable.from([bytesOf(site[path]!)]);
      },
      sha1: async () => this.files.map(({ path }) => createHash('sha1').update(bytesOf(site[path]!)).digest('hex')),
      created: async (providerId) => void this.created.push(providerId),
      keep: async (values) => Object.assign(this.kept, { ...values, ...this.kept }),
      doubt: () => {},
      log: (text) => void this.lines.push(text),
    };
  }
}

export function filesOf(site: Site): SiteFile[] {
  return Object.entries(site)
    .map(([path, content]) => {
      const bytes = bytesOf(content);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const type = types[path.split('.').at(-1)!] ?? 'application/octet-stream';
      return { path, type, sizeBytes: bytes.length, sha256, contentKey: `ws_1/${path}` };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function bytesOf(content: string | Buffer): Buffer {
  return Buffer.from(content);
}
