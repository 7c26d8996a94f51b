/** Publishing at a stand-in without the rest of the service: files and stored values in memory, no waits between attempts. */

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { machineClock } from '../../../src/clock.ts';
import { keptWith } from '../../../src/domains/deployments/configs/configs.ts';
import { hostCalls } from '../../../src/domains/deployments/hosts/calls.ts';
import type { Host, HostAccess, HostCalls, HostState, Publication } from '../../../src/domains/deployments/hosts/host.ts';
import { masked } from '../../../src/domains/deployments/hosts/mask.ts';
import type { SiteFile } from '../../../src/domains/deployments/snapshot/site.ts';
import type { Outbound } from '../../../src/providers/outbound/port.ts';
import type { Scope } from '../scope.ts';
import { credentialsOf, type HostRow, plainSite } from './host-row.ts';
import type { HostStandIn } from './host-stand-in.ts';

export type Site = Readonly<Record<string, string | Buffer>>;
export type PublishOptions = { isRepeat?: boolean; providerId?: string | null; signal?: AbortSignal };

export class HostWorld {
  readonly row: HostRow;
  readonly standIn: HostStandIn;
  readonly pauses: number[] = [];
  readonly logged: string[] = [];
  /** How often a host did not know whether it had made something. */
  unknownOutcomes = 0;
  /** As the configuration would hold it. */
  kept: Record<string, string> = {};
  /** As the deployments would hold it. */
  readonly providerIds = new Map<string, string>();
  readonly access: HostAccess;

  static async start(row: HostRow, outbound: Outbound, t: Scope): Promise<HostWorld> {
    return new HostWorld(row, await row.start(t), outbound);
  }

  private constructor(row: HostRow, standIn: HostStandIn, outbound: Outbound) {
    this.row = row;
    this.standIn = standIn;
    this.access = this.accessWith(credentialsOf(row), outbound);
  }

  /** With other credentials, or with calls that tests watch. */
  accessWith(
    credentials: Readonly<Record<string, string>>,
    outbound: Outbound,
    wrap: (calls: HostCalls) => HostCalls = (calls) => calls,
  ): HostAccess {
    const { host, projectGiven = false } = this.row;
    const calls = callsWithoutWaiting({ host, outbound, apiUrl: this.standIn.apiUrl, credentials, pauses: this.pauses });
    const world = this;
    return {
      ...{ credentials, project: 'my-site', projectGiven, team: null, url: null, calls: wrap(calls) },
      get kept() {
        return world.kept;
      },
    };
  }

  async publish(deploymentId: string, site: Site = this.site, options: PublishOptions = {}, access = this.access): Promise<string> {
    const { providerId } = await masked(this.row.host).publish(access, this.publication(deploymentId, site, options));
    return providerId;
  }

  get site(): Site {
    return this.row.site ?? plainSite;
  }

  publication(deploymentId: string, site: Site, options: PublishOptions = {}): Publication {
    const { isRepeat = false, providerId = null, signal = new AbortController().signal } = options;
    return {
      ...publicationOf(deploymentId, site),
      ...{ isRepeat, providerId, signal },
      created: async (id) => {
        signal.throwIfAborted();
        this.providerIds.set(deploymentId, id);
      },
      keep: async (values, gone) => {
        signal.throwIfAborted();
        this.kept = keptWith(this.kept, values, gone);
        return this.kept;
      },
      outcomeUnknown: () => void this.unknownOutcomes++,
      log: (text) => void this.logged.push(text),
    };
  }

  async state(providerId: string): Promise<HostState> {
    return masked(this.row.host).state(this.access, providerId, new AbortController().signal);
  }

  /** Polls until it has ended. */
  async end(providerId: string): Promise<HostState> {
    for (let polls = 0; polls < 50; polls += 1) {
      const state = await this.state(providerId);
      if (state.kind !== 'working') return state;
    }
    throw new Error('It does not end');
  }
}

type WithoutWaiting = { host: Host; outbound: Outbound; apiUrl: string; credentials: Readonly<Record<string, string>>; pauses: number[] };

/** @param pauses gets those between attempts, which are not waited for */
export function callsWithoutWaiting({ host: { title }, pauses, ...parts }: WithoutWaiting): HostCalls {
  return hostCalls({
    ...{ ...parts, clock: machineClock, title, accountId: 'acct_1' },
    pause: async (ms, signal) => {
      signal.throwIfAborted();
      pauses.push(ms);
      await new Promise(setImmediate);
    },
  });
}

/** A first try of which nothing is stored. */
export function publicationOf(deploymentId: string, site: Site): Publication {
  const files = siteFiles(site);
  return {
    ...{ deploymentId, files, isRepeat: false, providerId: null, signal: new AbortController().signal },
    open: async ({ path }) => Readable.from([Buffer.from(site[path]!)]),
    sha1: async () => files.map(({ path }) => createHash('sha1').update(site[path]!).digest('hex')),
    created: async () => {},
    keep: async (values) => values,
    outcomeUnknown: () => {},
    log: () => {},
  };
}

const types: Record<string, string> = {
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  png: 'image/png',
};

export function siteFiles(site: Site): SiteFile[] {
  return Object.keys(site)
    .sort()
    .map((path) => ({
      path,
      type: types[path.split('.').at(-1)!] ?? 'application/octet-stream',
      sizeBytes: Buffer.byteLength(site[path]!),
      sha256: createHash('sha256').update(site[path]!).digest('hex'),
      contentKey: `ws_1/wsf_1/${path}`,
    }));
}
