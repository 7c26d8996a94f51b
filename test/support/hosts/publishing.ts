/** One deployment of one configuration, with its reports so far: `publish` may be called again, as after a crash. */
import { keptWith } from '../../../src/domains/deployments/configs/configs.ts';
import type { Host, HostAccess, Publication } from '../../../src/domains/deployments/hosts/host.ts';
import type { SiteFile } from '../../../src/domains/deployments/snapshot/site.ts';
import type { Outbound } from '../../../src/providers/outbound/port.ts';
import { callsWithoutWaiting, publicationOf, type Site, siteFiles } from './host-world.ts';

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
    this.files = siteFiles(options.site);
    const { credentials, project = 'my-site', url = null } = options;
    const calls = callsWithoutWaiting({ ...options, pauses: this.pauses });
    this.access = { credentials, project, projectGiven: options.project !== undefined, team: null, url, kept: this.kept, calls };
  }

  /** @param isRepeat after an earlier try that ended at any point */
  async publish(isRepeat = false): Promise<string> {
    const { providerId } = await this.options.host.publish(this.access, this.publication(isRepeat));
    return providerId;
  }

  private publication(isRepeat: boolean): Publication {
    const first = publicationOf(this.options.deploymentId, this.options.site);
    return {
      ...first,
      ...{ isRepeat, providerId: this.created[0] ?? null, signal: this.abort.signal },
      open: async (file) => {
        this.opened.push(file.path);
        return first.open(file);
      },
      created: async (providerId) => void this.created.push(providerId),
      keep: async (values, gone) => Object.assign(this.kept, keptWith(this.kept, values, gone)),
      log: (text) => void this.lines.push(text),
    };
  }
}
