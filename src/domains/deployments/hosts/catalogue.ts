/** Every host that sites can be published at. */
import type { Target } from '../targets.ts';
import type { Host } from './host.ts';

export type HostChoice = { target: Target; projectGiven: boolean };

/** Cloudflare Pages where the configuration names a project, Workers otherwise. */
export type FindHost = (choice: HostChoice) => Host;

export const defaultApiUrls: Readonly<Record<Target, string>> = {
  vercel: 'https://api.vercel.com',
  netlify: 'https://api.netlify.com/api/v1',
  cloudflare: 'https://api.cloudflare.com/client/v4',
  expo: 'https://api.expo.dev',
};
