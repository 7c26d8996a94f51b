import { pages } from '../../../src/domains/deployments/hosts/pages.ts';
import { workers } from '../../../src/domains/deployments/hosts/workers.ts';
import { bad } from './cloudflare-answers.ts';
import { CloudflareStandIn, goodAccount } from './cloudflare-stand-in.ts';
import { contentsOf, defineRow, type HostRow, type Published } from './host-row.ts';
import { goodToken } from './host-stand-in.ts';
import { isLive, type PagesDeployment } from './pages-projects.ts';

const account = String.raw`^METHOD \/client\/v4\/accounts\/[^/]+`;
const at = (method: string, rest: string) => new RegExp(account.replace('METHOD', method) + rest);

const inCommon = {
  start: (t) => CloudflareStandIn.start(t),
  credentials: { token: goodToken, account_id: goodAccount },
  refusal: (status, text) => bad(status, status === 401 ? 1000 : 7003, text),
  errorInside: {
    answer: { ...bad(200, 10_000, 'Authentication error: this token may not do that'), status: 200 },
    code: 'auth',
    message: /may not do that/,
  },
} satisfies Partial<HostRow<CloudflareStandIn>>;

export const workersRow = defineRow<CloudflareStandIn>({
  ...inCommon,
  name: 'workers',
  host: workers,
  requests: {
    identify: /^GET \/client\/v4\/user\/tokens\/verify$/,
    create: at('PUT', String.raw`\/workers\/scripts\/[^/]+$`),
    upload: at('POST', String.raw`\/workers\/assets\/upload$`),
    state: null,
    cancel: null,
  },
  deployments: ({ scripts }) =>
    [...scripts.scripts.values()]
      .flatMap(({ versions }) => versions.toReversed())
      .map(({ id, annotations, files }) => ({ id, tag: annotations['workers/tag'] ?? '', state: 'live', files: pathsOf(files) })),
  uploads: ({ scripts }) => scripts.sent.map(String),
  url: () => null,
  failures: {},
  neverReady: null,
});

export const pagesRow = defineRow<CloudflareStandIn>({
  ...inCommon,
  name: 'pages',
  host: pages,
  projectGiven: true,
  requests: {
    identify: /^GET \/client\/v4\/user\/tokens\/verify$/,
    create: at('POST', String.raw`\/pages\/projects\/[^/]+\/deployments$`),
    upload: /^POST \/client\/v4\/pages\/assets\/upload$/,
    state: at('GET', String.raw`\/pages\/projects\/[^/]+\/deployments\/`),
    cancel: at('DELETE', String.raw`\/pages\/projects\/[^/]+\/deployments\/`),
  },
  deployments: ({ projects }) =>
    projects.deployments.toReversed().map((one) => {
      return { id: one.id, tag: one.message.replace('Troupe ', ''), state: stateOf(one), files: pathsOf(one.files) };
    }),
  uploads: ({ projects }) => projects.sent.map(String),
  url: ({ siteHost }) => `http://${siteHost}`,
  failures: {
    build_failed: ({ projects }) => {
      projects.stages = [{ name: 'deploy', status: 'failure' }];
      projects.lines = ['Error: the redirects of the site have no end'];
    },
  },
  neverReady: ({ projects }) => {
    projects.isStuck = true;
  },
});

function pathsOf(files: ReadonlyMap<string, Buffer>): Record<string, string> {
  return contentsOf(new Map([...files].map(([path, bytes]) => [path.slice(1), bytes])));
}

function stateOf(deployment: PagesDeployment): Published['state'] {
  if (deployment.isDeleted) return 'cancelled';
  return isLive(deployment) ? 'live' : deployment.stage.status === 'failure' ? 'failed' : 'working';
}
