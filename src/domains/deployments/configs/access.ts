/** The parameters of requests to a host for a configuration. */
import type { HostAccess, HostCalls } from '../hosts/host.ts';
import type { DeployConfig } from './config.ts';
import type { Credentials } from './credentials.ts';

export function accessOf(config: DeployConfig, credentials: Credentials, calls: HostCalls): HostAccess {
  return {
    credentials,
    project: config.project ?? slugOf(config),
    projectGiven: config.project !== null,
    team: config.team,
    url: config.url,
    kept: config.kept,
    calls,
  };
}

/** Hosts make it a part of a host name, which has 63 characters at most, and put words of their own before and after it. */
const longest = 52;

/** The configuration's name as a name that every host accepts: small letters, digits and single hyphens, a letter first. */
export function slugOf({ id, name }: Pick<DeployConfig, 'id' | 'name'>): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replace(/^-|-$/g, '');
  // Nothing is left of a name in another script: two such configurations must not share a site.
  if (slug === '') return `site-${id.slice(-10)}`;
  return /^[a-z]/.test(slug) ? slug : `site-${slug}`;
}
