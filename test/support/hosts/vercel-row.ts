import { vercel } from '../../../src/domains/deployments/hosts/vercel.ts';
import { contentsOf, defineRow } from './host-row.ts';
import { VercelStandIn } from './vercel-stand-in.ts';

const states = {
  QUEUED: 'working',
  BUILDING: 'working',
  READY: 'live',
  ERROR: 'failed',
  CANCELED: 'cancelled',
  BLOCKED: 'failed',
} as const;

export const vercelRow = defineRow<VercelStandIn>({
  name: 'vercel',
  host: vercel,
  start: (t) => VercelStandIn.start(t),
  requests: {
    identify: /^GET \/v2\/user$/,
    create: /^POST \/v13\/deployments$/,
    upload: /^POST \/v2\/files$/,
    state: /^GET \/v13\/deployments\/./,
    cancel: /^PATCH \/v12\/deployments\/[^/]+\/cancel$/,
  },
  deployments: ({ deployments }) =>
    deployments.map(({ id, meta, readyState, files }) => ({
      ...{ id, tag: meta.troupe_deployment ?? '', state: states[readyState], files: contentsOf(files) },
    })),
  uploads: ({ uploads }) => uploads.map(String),
  url: ({ siteHost }) => siteHost,
  refusal: (status, message) => ({ status, json: { error: { code: 'refused', message } } }),
  errorInside: {
    answer: { status: 200, json: { error: { code: 'forbidden', message: 'The team does not let you deploy' } } },
    code: 'auth',
    message: /does not let you deploy/,
  },
  failures: {
    build_failed: (standIn) => {
      standIn.next = 'build_fails';
    },
    alias_failed: (standIn) => {
      standIn.next = 'alias_fails';
    },
  },
  neverReady: (standIn) => {
    standIn.next = 'none';
  },
});
