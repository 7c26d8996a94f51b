import { netlify } from '../../../src/domains/deployments/hosts/netlify.ts';
import { contentsOf, defineRow } from './host-row.ts';
import { type NetlifyDeploy, NetlifyStandIn } from './netlify-stand-in.ts';

export const netlifyRow = defineRow<NetlifyStandIn>({
  name: 'netlify',
  host: netlify,
  start: (t) => NetlifyStandIn.start(t),
  requests: {
    identify: /^GET \/api\/v1\/user$/,
    create: /^POST \/api\/v1\/sites\/[^/]+\/deploys$/,
    upload: /^PUT \/api\/v1\/deploys\/[^/]+\/files\//,
    state: /^GET \/api\/v1\/deploys\/./,
    cancel: /^POST \/api\/v1\/deploys\/[^/]+\/cancel$/,
  },
  deployments: (standIn) =>
    standIn.deploys.map((deploy) => ({
      ...{ id: deploy.id, tag: deploy.title, state: stateOf(deploy) },
      files: contentsOf(new Map([...deploy.hashes].map(([path, hash]) => [path, standIn.contents.get(hash) ?? Buffer.from('missing')]))),
    })),
  uploads: ({ uploads }) => uploads.map(String),
  url: ({ siteHost }) => `http://${siteHost}`,
  refusal: (status, message) => ({ status, json: { code: status, message } }),
  errorInside: {
    answer: { status: 200, json: { code: 403, message: 'The team does not let you deploy' } },
    code: 'auth',
    message: /does not let you deploy/,
  },
  failures: {
    build_failed: (standIn) => {
      standIn.next = 'fails';
    },
  },
  neverReady: (standIn) => {
    standIn.next = 'none';
  },
});

function stateOf({ state, errorMessage }: NetlifyDeploy) {
  if (state === 'ready') return 'live';
  return state !== 'error' ? 'working' : /^Canceled/.test(errorMessage ?? '') ? 'cancelled' : 'failed';
}
