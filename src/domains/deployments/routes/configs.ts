/** Deploy configurations: create, list, read, delete. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { mustDirect } from '../../../edge/routes/mode.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { DeployConfig } from '../configs/config.ts';
import { type CredentialBox, type Credentials, readCredentials } from '../configs/credentials.ts';
import { checkHostName, readOutputDir, readSiteUrl } from '../configs/fields.ts';
import { deployConfigs } from '../configs/messages.ts';
import { DeployConfigView, deployConfigView } from '../configs/view.ts';
import { deploymentIds } from '../ids.ts';
import { targets } from '../targets.ts';

export type ConfigRouteParts = {
  actors: ActorSystem;
  clock: Clock;
  credentials: CredentialBox;
  outbound: Pick<Outbound, 'check'>;
  /** When the host was found to take the credentials; null where it could not be asked. Throws `invalid` where it does not take them. */
  identify(accountId: string, config: DeployConfig, credentials: Credentials): Promise<number | null>;
};

const base = '/deployments/configs';
const listNote =
  'Live keys and sessions see those that were made with them; a test key sees those too, and those that were made with a test key, which serve test mode alone.';

function optional(maxLength: number, description: string) {
  return Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength, pattern: '\\S' }), Type.Null()], { description }));
}

const Body = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'No other of the account has it' }),
    target: Type.Enum([...targets]),
    credentials: Type.Record(AnyName, Type.String({ minLength: 1, maxLength: 8_192 }), {
      description: 'vercel, netlify, expo: {token}. cloudflare: {token, account_id}. They are stored encrypted and never shown',
    }),
    build_command: optional(4_000, 'Makes the site out of the files of the workspace. Without it they are published as they are'),
    output_dir: optional(
      500,
      'What is published, relative to the workspace. Default: all of it; after a build the first of dist, build, out and public',
    ),
    project: optional(
      100,
      'The project, site or script at the host; default: named after the configuration. With one, cloudflare publishes at Pages',
    ),
    team: optional(100, 'The team or account at the host that owns the project'),
    url: optional(
      2_048,
      'The address of the site where it has one of its own: it is asked for and returned in place of the address at the host',
    ),
  },
  { examples: [{ name: 'Website', target: 'vercel', credentials: { token: 'token-of-vercel' } }] },
);

export function configRoutes({ actors, clock, credentials: box, outbound, identify }: ConfigRouteParts): AnyRoute[] {
  const list = route({
    method: 'GET',
    path: base,
    summary: 'List deploy configurations, newest first',
    description: listNote,
    extension: true,
    scope: 'workspaces.read',
    query: PageQuery,
    responses: { 200: PageOf(DeployConfigView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const all = await actors.query(deployConfigs, accountId, 'list', { mode });
      return answer(200, page(all.slice(offset, offset + limit).map(deployConfigView), offset, all.length));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Make a deploy configuration',
    description:
      'The credentials are checked at the host: 422 with the host’s text if it refuses them. If the host does not answer, the configuration is created nevertheless ' +
      'and `verified_at` is null. With a test key nothing is tried.',
    extension: true,
    scope: 'workspaces.write',
    errors: [409],
    body: Body,
    responses: { 201: DeployConfigView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      const { target } = body;
      const credentials = readCredentials(target, body.credentials);
      const { id, commandId } = commandIds(context, deploymentIds.config, clock.nowMs());
      const config: DeployConfig = {
        ...{ id, mode, target, name: body.name.trim(), kept: {}, verifiedAt: null, createdAt: clock.nowMs() },
        buildCommand: body.build_command ?? null,
        outputDir: body.output_dir == null ? null : readOutputDir(body.output_dir),
        project: body.project == null ? null : checkHostName('project', target, body.project),
        team: body.team == null ? null : checkHostName('team', target, body.team),
        url: body.url == null ? null : readSiteUrl(outbound, body.url),
        credentials: box.seal(credentials, id),
      };
      const verifiedAt = mode === 'test' ? null : await identify(accountId, config, credentials);
      const made = await actors.ask(deployConfigs, accountId, 'add', { ...config, verifiedAt }, { commandId });
      return answer(201, deployConfigView(made));
    },
  });

  const get = route({
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Look at a deploy configuration',
    extension: true,
    scope: 'workspaces.read',
    responses: { 200: DeployConfigView },
    async handler({ principal, params }) {
      return answer(200, deployConfigView(await own(principal, params.id)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a deploy configuration',
    description: 'Deployments that have begun end with what they began with. What is published stays at the host.',
    extension: true,
    scope: 'workspaces.write',
    responses: { 204: null },
    async handler({ principal, params }) {
      const { id, mode } = await own(principal, params.id);
      mustDirect(principal, { mode });
      await actors.ask(deployConfigs, principal.accountId, 'remove', { id });
      return { status: 204 };
    },
  });

  return [list, create, get, remove];

  async function own({ accountId, mode }: Principal, id: string): Promise<DeployConfig> {
    const found = await actors.query(deployConfigs, accountId, 'find', { id, mode });
    if (found === null) throw new AppError('not_found', 'Deploy configuration not found');
    return found;
  }
}
