/** A node with the actors of identity, their routes on a real server, idempotency keys, and a clock that a test moves by hand. */
import type { TestContext } from 'node:test';
import { accountActor } from '../../src/actors/account/account.ts';
import { apiKeyActor } from '../../src/actors/api-key/api-key.ts';
import { emailAddressActor } from '../../src/actors/email-address/email-address.ts';
import type { AnyActor } from '../../src/actors/runtime/define-actor.ts';
import { Runtime } from '../../src/actors/runtime/runtime.ts';
import { sessionActor } from '../../src/actors/session/session.ts';
import { userActor } from '../../src/actors/user/user.ts';
import type { Clock } from '../../src/clock.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { createApiKeySecrets } from '../../src/edge/auth/api-key-secret.ts';
import { createAuthenticator } from '../../src/edge/auth/authenticate.ts';
import { createPasswords } from '../../src/edge/auth/passwords.ts';
import { createRefreshTokens } from '../../src/edge/auth/refresh-token.ts';
import { createTokens } from '../../src/edge/auth/tokens.ts';
import type { AnyRoute } from '../../src/edge/http/route.ts';
import { createIdempotency } from '../../src/edge/idempotency.ts';
import { apiKeyRoutes } from '../../src/edge/routes/api-keys.ts';
import { authRoutes } from '../../src/edge/routes/auth.ts';
import { silentLog } from '../../src/log.ts';
import { AccountOverrides } from '../../src/storage/account-overrides.ts';
import { Database } from '../../src/storage/database.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { Secrets } from '../../src/storage/secrets.ts';
import { testDatabase } from './database.ts';
import { startEdge, type TestEdge } from './http-edge.ts';

export const secretKey = 'a secret key of thirty-two characters or so';
export const identityActors: AnyActor[] = [accountActor, userActor, emailAddressActor, sessionActor, apiKeyActor];

/** Stands still until told. */
export class HandClock implements Clock {
  private ms = Date.now();

  nowMs(): number {
    return this.ms;
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}

export type IdentityDatabase = { database: Database; clock: HandClock; startRuntime(actors?: AnyActor[]): Promise<Runtime> };

/** A migrated database, and runtimes on it that are stopped with the test. */
export async function identityDatabase(t: TestContext): Promise<IdentityDatabase> {
  const server = await testDatabase();
  const database = new Database(server.url);
  await database.migrate();
  const clock = new HandClock();
  const started: Runtime[] = [];
  t.after(async () => {
    for (const runtime of started) await runtime.stop();
    await database.close();
    await server.close();
  });
  return {
    database,
    clock,
    async startRuntime(actors = identityActors) {
      const runtime = new Runtime({ database, placement: new SingleNode(server.url, 'test', silentLog), log: silentLog, clock });
      started.push(runtime);
      runtime.register(actors);
      await runtime.start();
      return runtime;
    },
  };
}

export type IdentityNode = Awaited<ReturnType<typeof startIdentityNode>>;

/** @param moreRoutes served beside those of identity */
export async function startIdentityNode(t: TestContext, moreRoutes: (node: { runtime: Runtime }) => AnyRoute[] = () => []) {
  const { database, clock, startRuntime } = await identityDatabase(t);
  const runtime = await startRuntime();
  const { actors } = runtime;
  const tokens = await createTokens({ secretKey, clock });
  const secrets = createApiKeySecrets(secretKey);
  const authenticator = createAuthenticator({ actors, database, tokens, clock, log: silentLog });
  const overrides = new AccountOverrides(database, silentLog);
  const routes = [
    ...authRoutes({ actors, tokens, refreshTokens: createRefreshTokens(secretKey), passwords: createPasswords(), clock, overrides }),
    ...apiKeyRoutes({ actors, database, secrets, clock }),
    ...moreRoutes({ runtime }),
  ];
  const keys = new IdempotencyKeys(database, clock);

  /** An edge of the same service: what one process keeps in memory, another one does not have. */
  async function anotherEdge(idempotencyKeys = new IdempotencyKeys(database, clock)): Promise<TestEdge> {
    const around = createIdempotency({ keys: idempotencyKeys, secrets: new Secrets(secretKey), log: silentLog });
    const edge = await startEdge(routes, { authenticate: authenticator.ofRequest, around });
    t.after(() => edge.server.close(1_000));
    return edge;
  }

  const edge = await anotherEdge(keys);
  const request = (method: string, path: string, token: string | null, body?: unknown, headers: Record<string, string> = {}, at = edge) =>
    fetch(`${at.url}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });

  return {
    database,
    clock,
    runtime,
    actors,
    tokens,
    keys,
    overrides,
    authenticator,
    edge,
    anotherEdge,
    request,
    /** Signs up; the answer's tokens. */
    async register(email: string, password = 'correct horse battery'): Promise<{ access_token: string; refresh_token: string }> {
      const response = await request('POST', '/v1/auth/register', null, { email, password });
      if (response.status !== 201) throw new Error(`register: ${response.status} ${await response.text()}`);
      return (await response.json()) as { access_token: string; refresh_token: string };
    },
    async createKey(token: string, body: object): Promise<{ id: string; key: string }> {
      const response = await request('POST', '/v1/api-keys', token, body);
      if (response.status !== 201) throw new Error(`api-keys: ${response.status} ${await response.text()}`);
      return (await response.json()) as { id: string; key: string };
    },
  };
}
