/** What the tools and routes of deployments share on a node. */
import { type Config, searchPath } from '../../config.ts';
import { withoutTrailing } from '../../trailing.ts';
import { storageLimits } from '../accounts/contract.ts';
import type { Platform } from '../domain.ts';
import type { Builder } from './build/builder.ts';
import { localBuilder } from './build/local-builder.ts';
import { accessOf } from './configs/access.ts';
import { type CredentialBox, credentialBox, openCredentials } from './configs/credentials.ts';
import type { OpenCalls } from './configs/identify.ts';
import type { Creations } from './deployment/create.ts';
import type { EffectParts } from './deployment/effects.ts';
import { hostCalls } from './hosts/calls.ts';
import { defaultApiUrls, type FindHost } from './hosts/catalogue.ts';
import { findHost } from './hosts/find-host.ts';
import { type ContentTurns, contentTurns, creationGate } from './low-priority.ts';
import { DeploymentStats } from './metrics.ts';
import type { Snapshots } from './snapshot/site.ts';
import { openSnapshots } from './snapshot/snapshots.ts';
import type { Target } from './targets.ts';

export type DeploymentParts = {
  credentials: CredentialBox;
  snapshots: Snapshots;
  creations: Creations;
  contentTurns: ContentTurns;
  builder: Builder;
  findHost: FindHost;
  openCalls: OpenCalls;
  accessOf: EffectParts['accessOf'];
  apiUrls: Readonly<Record<Target, string>>;
  stats: DeploymentStats;
};

export function openDeployments(platform: Platform): DeploymentParts {
  const { config, connected, clock, secretKey, acceptedKeys, spareTime } = platform;
  const credentials = credentialBox(secretKey, acceptedKeys);
  const apiUrls = apiUrlsOf(config);
  const openCalls: OpenCalls = ({ target, project, accountId, credentials: own, pause }) => {
    const { title } = findHost({ target, projectGiven: project !== null });
    const apiUrl = withoutTrailing(apiUrls[target], '/');
    return hostCalls({ outbound: connected, clock, apiUrl, title, accountId, credentials: own, ...(pause && { pause }) });
  };
  const limitsOf = (accountId: string) => storageLimits(platform.actors, accountId);
  const snapshots = openSnapshots({ ...platform, limitsOf });
  return {
    credentials,
    snapshots,
    creations: creationGate(spareTime),
    contentTurns: contentTurns({ spareTime, clock, timeoutMs: config.deployTimeoutMs }),
    builder: localBuilder({
      snapshots,
      allowed: (config.builds ?? (config.redisUrl === null ? 'on' : 'off')) === 'on',
      network: config.buildNetwork === 'on',
      timeoutMs: config.buildTimeoutMs,
      path: searchPath(),
      dataDir: config.dataDir,
    }),
    findHost,
    openCalls,
    accessOf(chosen, accountId) {
      const own = openCredentials(credentials, chosen);
      return accessOf(chosen, own, openCalls({ target: chosen.target, project: chosen.project, accountId, credentials: own }));
    },
    apiUrls,
    stats: new DeploymentStats(),
  };
}

function apiUrlsOf(config: Config): Record<Target, string> {
  return {
    vercel: config.vercelApiUrl ?? defaultApiUrls.vercel,
    netlify: config.netlifyApiUrl ?? defaultApiUrls.netlify,
    cloudflare: config.cloudflareApiUrl ?? defaultApiUrls.cloudflare,
    expo: config.expoApiUrl ?? defaultApiUrls.expo,
  };
}
