/** A node with the actors of workspaces, their routes on a real server, and files in a folder; for several accounts. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ActorSystem } from '../../src/actors/actor-system.ts';
import type { AnyActor, TurnContext } from '../../src/actors/define-actor.ts';
import { Runtime } from '../../src/actors/runtime.ts';
import { systemClock } from '../../src/clock.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { accountActor } from '../../src/domains/accounts/account/account.ts';
import { accountEffects } from '../../src/domains/accounts/account/effects.ts';
import { accountStorageActor } from '../../src/domains/accounts/account-storage/account-storage.ts';
import { storageEffects } from '../../src/domains/accounts/account-storage/count.ts';
import { createAuthenticator } from '../../src/domains/identity/auth/authenticate.ts';
import { createCookieSessions } from '../../src/domains/identity/auth/cookie-session.ts';
import { tasksIds } from '../../src/domains/tasks/ids.ts';
import { deliverableRoutes } from '../../src/domains/tasks/routes/deliverables.ts';
import { Deliverable } from '../../src/domains/tasks/task/entity.ts';
import { task } from '../../src/domains/tasks/task/messages.ts';
import { createDownloadLinks } from '../../src/domains/workspaces/routes/download-link.ts';
import { workspaceRoutes } from '../../src/domains/workspaces/routes/workspaces.ts';
import { workspaceActor } from '../../src/domains/workspaces/workspace/workspace.ts';
import type { DeliveredFile } from '../../src/domains/workspaces/workspace-file/ports.ts';
import { workspaceFileActor } from '../../src/domains/workspaces/workspace-file/workspace-file.ts';
import { workspaceNameActor } from '../../src/domains/workspaces/workspace-name/workspace-name.ts';
import type { Principal } from '../../src/edge/auth/principal.ts';
import { createTokens } from '../../src/edge/auth/tokens.ts';
import type { HttpRequest } from '../../src/edge/http/message.ts';
import { createIdempotency } from '../../src/edge/idempotency.ts';
import { derivedId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import type { FileStore } from '../../src/storage/files.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import { Secrets } from '../../src/storage/secrets.ts';
import { testDatabase } from './database.ts';
import { startEdge } from './http-edge.ts';
import type { Json } from './json.ts';
import { productSchemaWith } from './product-schema.ts';
import { settled } from './settled.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const secretKey = 'a secret key of thirty-two characters or so';

/** Stands in for the task: it has the same address and, like it, keeps a row for what was delivered last under each name. */
const DeliveryTarget = defineEntity({
  name: 'DeliveryTarget',
  tableName: 'delivery_target',
  properties: { id: p.text().primary(), deliveries: p.integer() },
});
const deliveryTarget = {
  ref: task,
  entity: DeliveryTarget,
  commands: {
    delivered(state: InferEntity<typeof DeliveryTarget> | null, file: DeliveredFile, ctx: TurnContext) {
      const id = derivedId(tasksIds.deliverable, null, ctx.id, file.name);
      ctx.append(Deliverable, { id, taskId: ctx.id, accountId: 'acct_ann', ...file, createdAt: ctx.nowMs });
      return { state: { id: ctx.id, deliveries: (state?.deliveries ?? 0) + 1 } as InferEntity<typeof DeliveryTarget>, reply: null };
    },
  },
  queries: { deliveries: (state: InferEntity<typeof DeliveryTarget> | null) => state?.deliveries ?? 0 },
} as AnyActor;

/** Tokens in tests: the caller's account, e.g. `Bearer acct_ann`; with ` read` after it, only that scope's reading half. */
function principalOf(authorization: string): Principal | null {
  const match = /^Bearer (acct_\w+)( read)?$/.exec(authorization);
  if (match === null) return null;
  const scopes = match[2] === undefined ? 'all' : new Set(['workspaces.read', 'tasks.read']);
  return { accountId: match[1]!, userId: `usr_${match[1]}`, kind: 'session', scopes, mode: 'live', id: `ses_${match[1]}` };
}

export type WorkspaceNode = Awaited<ReturnType<typeof startWorkspaceNode>>;

export async function startWorkspaceNode(t: TestContext) {
  const server = await testDatabase();
  const folder = await temporaryFolder();
  const database = new Database(server.url, { schema: productSchemaWith([DeliveryTarget]) });
  await database.pool.query('create table delivery_target (id text primary key, deliveries int not null)');
  const directory = join(folder.path, 'files');
  const files: FileStore = await openLocalFiles(directory);
  let runtime = await startRuntime();
  /** The actors of the runtime that runs now: those of a stopped one answer only until its read lease ends. */
  const actors = new Proxy({} as ActorSystem, {
    get(_target, name) {
      const value: unknown = Reflect.get(runtime.actors, name);
      return typeof value === 'function' ? value.bind(runtime.actors) : value;
    },
  });

  async function startRuntime(): Promise<Runtime> {
    const started = new Runtime({ database, placement: new SingleNode(server.url, 'test', noLog), log: noLog });
    started.register([
      accountActor(accountEffects({ database })),
      accountStorageActor(storageEffects({ database })),
      workspaceActor,
      workspaceNameActor,
      workspaceFileActor({ database, files }),
      deliveryTarget,
    ] as AnyActor[]);
    await started.start();
    return started;
  }

  const tokens = await createTokens({ secretKey, clock: systemClock });
  const cookies = createCookieSessions({ secretKey, publicUrl: () => 'http://service.test' });
  const authenticator = createAuthenticator({ actors, database, tokens, cookies, clock: systemClock, log: noLog });
  const links = createDownloadLinks(tokens, () => 'http://service.test/');
  const parts = { actors, database, files, links };
  const edge = await startEdge([...workspaceRoutes(parts), ...deliverableRoutes(parts)], {
    around: createIdempotency({
      keys: new IdempotencyKeys(database, systemClock),
      secrets: new Secrets(secretKey),
      log: noLog,
      repeating: (commandIds) => actors.repeated.begin(commandIds),
    }),
    authenticate: (request: HttpRequest) => principalOf(request.header('authorization')) ?? authenticator.ofRequest(request),
  });

  t.after(async () => {
    await edge.server.close(1_000);
    await runtime.stop();
    await database.close();
    await server.close();
    await folder.remove();
  });

  const call = (path: string, init: RequestInit & { as?: string } = {}): Promise<Response> =>
    fetch(`${edge.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${init.as ?? 'acct_ann'}`, ...(init.headers ?? {}) },
      redirect: 'manual',
    });

  return {
    url: server.url,
    port: edge.port,
    logged: edge.logged,
    database,
    files,
    directory,
    tokens,
    edgeUrl: edge.url,
    call,
    get actors() {
      return runtime.actors;
    },
    get effects() {
      return runtime.effects;
    },
    /** As after a stop and a start of the service. */
    async restart(): Promise<void> {
      await runtime.stop();
      runtime = await startRuntime();
    },
    async json(path: string, init?: RequestInit & { as?: string }): Promise<Json> {
      const response = await call(path, init);
      assert.ok(response.ok, `${response.status} ${await response.clone().text()}`);
      return response.json();
    },
    async createWorkspace(name: string, as = 'acct_ann'): Promise<Json> {
      return this.json('/v1/workspaces', {
        method: 'POST',
        as,
        body: JSON.stringify({ name }),
        headers: { 'content-type': 'application/json' },
      });
    },
    upload(
      workspaceId: string,
      name: string,
      content: string | Uint8Array,
      as?: string,
      headers?: Record<string, string>,
    ): Promise<Response> {
      const form = new FormData();
      form.set('file', new Blob([content as never]), name);
      return call(`/v1/workspaces/${workspaceId}/files`, { method: 'POST', body: form, as, headers });
    },
    /** Paths of all contents in the store. */
    async contents(): Promise<string[]> {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
    },
    settled: () => settled(database, runtime),
    async events(): Promise<{ type: string; data: Json }[]> {
      return (await database.pool.query('select type, data from event order by account_id, seq')).rows;
    },
  };
}
