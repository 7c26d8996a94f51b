/** Every host; no credential is in their errors and log lines. */
import type { Target } from '../targets.ts';
import type { FindHost } from './catalogue.ts';
import { expo } from './expo.ts';
import type { Host } from './host.ts';
import { masked } from './mask.ts';
import { netlify } from './netlify.ts';
import { pages } from './pages.ts';
import { vercel } from './vercel.ts';
import { workers } from './workers.ts';

const hosts: Readonly<Record<Target, Host>> = {
  vercel: masked(vercel),
  netlify: masked(netlify),
  cloudflare: masked(workers),
  expo: masked(expo),
};
const maskedPages = masked(pages);

export const findHost: FindHost = ({ target, projectGiven }) => (target === 'cloudflare' && projectGiven ? maskedPages : hosts[target]);
