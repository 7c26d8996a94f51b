/** A node with the actors of identity, their routes on a real server, idempotency keys, and a clock that a test moves by hand. */
import type { TestContext } from 'node:test';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { Runtime } from '../../src/actors/runtime.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { accountActor } from '../../src/domains/accounts/account/account.ts';
import { OverrideWatch } from '../../src/domains/accounts/account/override-watch.ts';
import { accountSettingsActor } from '../../src/domains/accounts/account-settings/account-settings.ts';
import { settingsRoutes } from '../../src/domains/accounts/routes/settings.ts';
import { apiKeyActor } from '../../src/domains/identity/api-key/api-key.ts';
import { emailAddressActor } from '../../src/domains/identity/email-address/email-address.ts';
import { openIdentity } from '../../src/domains/identity/open-identity.ts';
import { passwordResetActor } from '../../src/domains/identity/password-reset/password-reset.ts';
import { sessionActor } from '../../src/domains/identity/session/session.ts';
import { throttleActor } from '../../src/domains/identity/throttle/throttle.ts';
import { type KeyRevocationParts, keyRevocation } from '../../src/domains/identity/user/key-revocation.ts';
import { userMails } from '../../src/domains/identity/user/mails.ts';
import { userActor } from '../../src/domains/identity/user/user.ts';
import { createTokens, type Tokens } from '../../src/edge/auth/tokens.ts';
import type { AnyRoute } from '../../src/edge/http/route.ts';
import { createIdempotency } from '../../src/edge/idempotency.ts';
import { noLog } from '../../src/log.ts';
import type { MailProvider } from '../../src/providers/mail/port.ts';
import { Database } from '../../src/storage/database.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { Secrets } from '../../src/storage/secrets.ts';
import { testDatabase } from './database.ts';
import { startEdge, type TestEdge } from './http-edge.ts';
import { productSchema } from './product-schema.ts';

export const secretKey = 'a secret key of thirty-two characters or so';

/** Keeps what would be sent; `fail` makes it surely not be sent. */
export class KeptMail implements MailProvider {
  readonly sent: { to: string; subject: string; text: string; messageId: string }[] = [];
  fail: Error | null = null;

  async send({ to, subject, text }: { to: string; subject: string; text: string }, messageId: string): Promise<{ detail: string }> {
    if (this.fail !== null) throw this.fail;
    this.sent.push({ to, subject, text, messageId });
    return { detail: 'kept' };
  }

  /** Those with a token for a new password. */
  get resets() {
    return this.sent.filter(({ subject }) => subject === 'Set a new password');
  }

  /** Those with a token that verifies an address. */
  get verifications() {
    return this.sent.filter(({ subject }) => subject === 'Confirm your e-mail address');
  }
}

/** @param late returns the parts that exist only when the actors run; used by the revocation of keys */
export function identityActorsWith(mail: MailProvider, clock: Clock, late: () => KeyRevocationParts = noParts): AnyActor[] {
  const tokens = createTokens({ secretKey, clock });
  const resetToken: Tokens['resetToken'] = async (claims) => (await tokens).resetToken(claims);
  const verificationToken: Tokens['verificationToken'] = async (claims) => (await tokens).verificationToken(claims);
  return [
    accountActor({ startedTasks: null as never }),
    emailAddressActor,
    sessionActor,
    apiKeyActor,
    userActor({
      ...userMails({ mail, resetToken, verificationToken, publicUrl: null }),
      revokeKeys: { ...keyRevocation(null as never), run: (input, context) => keyRevocation(late()).run(input, context) },
    }),
    throttleActor,
    passwordResetActor,
    accountSettingsActor,
  ];
}

function noParts(): never {
  throw new Error('No keys are revoked in this test');
}

/** Their mail goes nowhere. */
export const identityActors = identityActorsWith(new KeptMail(), systemClock);

/** Advances only when a test moves it. */
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
  const database = new Database(server.url, { schema: productSchema });
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
      const runtime = new Runtime({ database, placement: new SingleNode(server.url, 'test', noLog), log: noLog, clock });
      started.push(runtime);
      runtime.register(actors);
      await runtime.start();
      return runtime;
    },
  };
}

export type IdentityNode = Awaited<ReturnType<typeof startIdentityNode>>;

/** @param moreRoutes served beside those of identity */
export async function startIdentityNode(
  t: TestContext,
  moreRoutes: (node: { runtime: Runtime }) => AnyRoute[] = () => [],
  { publicUrl = 'http://service.test', acceptedKeys = [] }: { publicUrl?: string; acceptedKeys?: string[] } = {},
) {
  const { database, clock, startRuntime } = await identityDatabase(t);
  const mail = new KeptMail();
  const runtime: Runtime = await startRuntime(identityActorsWith(mail, clock, () => ({ actors: runtime.actors, database })));
  const { actors } = runtime;
  const stores = { secretKey, acceptedKeys, database };
  const tokens = await createTokens({ ...stores, clock });
  const identity = openIdentity({ ...stores, actors, tokens, publicUrl: () => publicUrl, clock, log: noLog });
  const { authenticator, cookies } = identity;
  const routes = [...identity.routes, ...settingsRoutes({ actors }), ...moreRoutes({ runtime })];
  const keys = new IdempotencyKeys(database, clock);

  /** An edge of the same service: what one process keeps in memory, another one does not have. */
  async function anotherEdge(idempotencyKeys = new IdempotencyKeys(database, clock)): Promise<TestEdge> {
    const around = createIdempotency({
      keys: idempotencyKeys,
      secrets: new Secrets(secretKey),
      log: noLog,
      repeating: (commandIds) => actors.repeated.begin(commandIds),
    });
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
    overrides: new OverrideWatch({ database, actors, placement: { epochOf: () => 1 }, log: noLog }),
    authenticator,
    cookies,
    mail,
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
