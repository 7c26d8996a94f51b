/** Deployments: create, list, read, cancel, repeat. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { ownWorkspace } from '../../workspaces/contract.ts';
import { chooseConfig, noConfig } from '../configs/choose.ts';
import { deployConfigs } from '../configs/messages.ts';
import { type CreationParts, createDeployment } from '../deployment/create.ts';
import { Deployment, type DeploymentRow, deploymentStatuses } from '../deployment/entity.ts';
import { DeploymentLogLine, type DeploymentLogLineRow } from '../deployment/log-entity.ts';
import { deployment } from '../deployment/messages.ts';
import { DeploymentView, deploymentView, LogLineView } from '../deployment/view.ts';
import { deploymentIds } from '../ids.ts';
import type { Snapshot } from '../snapshot/site.ts';
import { targets } from '../targets.ts';

export type DeploymentRouteParts = CreationParts & { actors: ActorSystem; database: Database; clock: Clock; publicUrl(): string };

const base = '/deployments';
const buildNote =
  'Where its configuration has a `build_command` and this service does not build: 409. With 200 under way in the account: 429.';

export function deploymentRoutes(parts: DeploymentRouteParts): AnyRoute[] {
  const { actors, database, clock, snapshots, publicUrl } = parts;
  const shown = (row: DeploymentRow) => deploymentView(row, publicUrl());

  const list = route({
    method: 'GET',
    path: base,
    summary: 'List deployments, newest first',
    description: modeNote,
    scope: 'workspaces.read',
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(Type.Enum([...deploymentStatuses])),
      target: Type.Optional(Type.Enum([...targets])),
      workspace_id: Type.Optional(Type.String({ pattern: '^ws_.{1,60}$' })),
    }),
    responses: { 200: PageOf(DeploymentView) },
    async handler({ principal: { accountId, mode }, query }) {
      const { limit, offset, status, target, workspace_id: workspaceId } = query;
      const filters = Object.fromEntries(Object.entries({ status, target, workspaceId }).filter(([, value]) => value !== undefined));
      const [rows, total] = await database.list(accountId, (em) =>
        em.findAndCount(
          Deployment,
          { accountId, mode, ...filters },
          { orderBy: { createdAt: 'desc', id: 'desc' }, limit, offset, disableIdentityMap: true },
        ),
      );
      const data = rows.map((row) => shown(row as DeploymentRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Publish the files of a workspace',
    description:
      'The files are a snapshot of the workspace: later changes have no effect. Events and `GET /deployments/{id}` show the state. The deployment is live when its ' +
      'host says so and its address answers. With a test key nothing leaves: the address is a preview that this service serves for 30 days. ' +
      buildNote,
    scope: 'workspaces.write',
    errors: [404, 409],
    body: Type.Object(
      {
        workspace_id: Type.String({ minLength: 1, maxLength: 64 }),
        target: Type.Enum([...targets]),
        config_id: Type.Optional(
          Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()], {
            description: 'The configuration to publish with; default: the newest of the target',
          }),
        ),
      },
      { examples: [{ workspace_id: 'ws_01jny8e2zjv6x0r3k9m4t7w5ab', target: 'vercel', config_id: 'cfg_01jny8e2zjv6x0r3k9m4t7w5ab' }] },
    ),
    responses: { 201: DeploymentView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      const { workspace_id: workspaceId, target, config_id: configId = null } = body;
      const config = await chooseConfig(actors, { accountId, mode, target, configId });
      await ownWorkspace(actors, principal, workspaceId);
      const { id: deploymentId, commandId } = commandIds(context, deploymentIds.deployment, clock.nowMs());
      const creation = { deploymentId, commandId, accountId, mode, workspaceId, target, taskId: null, config };
      return answer(201, shown(await createDeployment(parts, creation, 'request')));
    },
  });

  const get = route({
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Look at a deployment',
    scope: 'workspaces.read',
    responses: { 200: DeploymentView },
    async handler({ principal, params }) {
      return answer(200, shown(await own(principal, params.id)));
    },
  });

  const logs = route({
    method: 'GET',
    path: `${base}/{id}/logs`,
    summary: "Lines of a deployment's log, oldest first",
    description: 'Of this service (`troupe`), of the build, and of the host (`provider`). Kept for 30 days.',
    extension: true,
    scope: 'workspaces.read',
    query: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 500, description: 'Entries in the page' }),
      offset: PageQuery.properties.offset,
    }),
    responses: { 200: PageOf(LogLineView) },
    async handler({ principal, params, query: { limit, offset } }) {
      const { id: deploymentId, accountId } = await own(principal, params.id);
      const [rows, total] = await database.list(accountId, (em) =>
        em.findAndCount(DeploymentLogLine, { deploymentId }, { orderBy: { line: 'asc' }, limit, offset, disableIdentityMap: true }),
      );
      const data = (rows as DeploymentLogLineRow[]).map(({ at, source, text }) => ({ at: isoTimestamp(at), source, text }));
      return answer(200, page(data, offset, total));
    },
  });

  const cancel = route({
    method: 'POST',
    path: `${base}/{id}/cancel`,
    summary: 'Cancel a deployment',
    description: 'It fails with the code `cancelled` at once, and the host is asked to end what it has begun. 409 once it has ended.',
    extension: true,
    scope: 'workspaces.write',
    errors: [409],
    responses: { 200: DeploymentView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, deploymentIds.deployment);
      return answer(200, shown(await actors.ask(deployment, id, 'cancel', null, { commandId })));
    },
  });

  const redeploy = route({
    method: 'POST',
    path: `${base}/{id}/redeploy`,
    summary: 'Publish the files of an earlier deployment again',
    description:
      'A new deployment of the same files, which are not built again, such as for going back to an earlier state. With its configuration as it is now, or the newest of the ' +
      'target where that is gone. 409 where there is none, where it has published nothing, or its files are not kept any more.',
    extension: true,
    scope: 'workspaces.write',
    errors: [409],
    responses: { 201: DeploymentView },
    async handler(context) {
      const { accountId, mode, workspaceId, target, taskId, configId, siteId } = await own(context.principal, context.params.id);
      const site = await kept(siteId);
      const named = configId === null ? null : await actors.query(deployConfigs, accountId, 'find', { id: configId, mode });
      const config = named ?? (await actors.query(deployConfigs, accountId, 'newest', { target, mode }));
      if (config === null && mode === 'live') throw new AppError('conflict', noConfig(target));
      const { id: deploymentId, commandId } = commandIds(context, deploymentIds.deployment, clock.nowMs());
      const creation = { deploymentId, commandId, accountId, mode, workspaceId, target, taskId, config, site };
      return answer(201, shown(await createDeployment(parts, creation, 'request')));
    },
  });

  return [list, create, get, logs, cancel, redeploy];

  async function own(principal: Principal, id: string): Promise<DeploymentRow> {
    const row = id.startsWith(deploymentIds.deployment) ? await actors.query(deployment, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Deployment');
  }

  async function kept(siteId: string | null): Promise<Snapshot> {
    if (siteId === null) throw new AppError('conflict', 'This deployment has published nothing');
    const files = await snapshots.files(siteId).catch((error) => {
      if (error instanceof AppError && error.code === 'not_found') return [];
      throw error;
    });
    if (files.length === 0) throw new AppError('conflict', 'The files of this deployment are not kept any more');
    return { snapshotId: siteId, files: files.length, bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
  }
}
