/** API keys: created, listed, revoked. The secret is returned once, by the request that created the key. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Authenticator } from '../../../edge/auth/authenticator.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { lackingScope, scopes } from '../../../edge/auth/scopes.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { ownedBy } from '../../../edge/routes/ownership.ts';
import { PageOf, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { ApiKey } from '../api-key/entity.ts';
import { apiKey, keyIdOf } from '../api-key/messages.ts';
import type { ApiKeySecrets, KeyMode } from '../auth/api-key-secret.ts';
import { identityIds } from '../ids.ts';

export type ApiKeyRoutesOptions = {
  actors: ActorSystem;
  database: Database;
  secrets: ApiKeySecrets;
  isStillValid: Authenticator['isStillValid'];
  clock: Clock;
};

const Mode = Type.Enum(['live', 'test'], {
  description:
    'A test key moves no real money and deploys nothing: its wallet, cards and orders are of test mode, apart from the live ones',
});
const described = {
  id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  mode: Mode,
  created_at: Type.String({ format: 'date-time' }),
};
const CreatedKey = Type.Object(
  { ...described, key: Type.String({ description: 'The secret; it is not shown again' }) },
  { title: 'CreatedApiKey' },
);
const ListedKey = Type.Object(
  {
    ...described,
    last_four: Type.String(),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'To the minute' }),
  },
  { title: 'ApiKey' },
);

export function apiKeyRoutes({ actors, database, secrets, isStillValid, clock }: ApiKeyRoutesOptions): AnyRoute[] {
  const create = route({
    method: 'POST',
    path: '/api-keys',
    summary: 'Create an API key',
    description:
      'A key can create only keys with scopes of its own, and a test key only test keys. The plan limits the number of keys (free 5, pro 20, power 50, business 200); beyond that the response is 402.',
    scope: 'any',
    errors: [402, 403, 409],
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
      scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 100 }),
      mode: Type.Optional(Mode),
    }),
    responses: { 201: CreatedKey },
    authorize: ({ principal, body }) => mustHold(principal, body.scopes, body.mode ?? 'live'),
    async handler(context) {
      const { principal, body } = context;
      const wanted = [...new Set(body.scopes)];
      const mode = body.mode ?? 'live';
      mustHold(principal, wanted, mode);
      // Checked again: a session or key that has just ended must not create a key.
      if (!(await isStillValid(principal))) throw new AppError('unauthenticated', 'Not authenticated');
      const { accountId, userId } = principal;
      const { id: seed, commandId } = commandIds(context, identityIds.apiKey, clock.nowMs());
      const id = keyIdOf(accountId, seed);
      const secret = secrets.create(mode, commandId);
      const command = { accountId, userId, name: body.name, secretHash: secret.hash, lastFour: secret.lastFour, mode, scopes: wanted };
      const { createdAt } = await actors.ask(apiKey, id, 'create', command, { commandId });
      return { status: 201, json: { id, name: body.name, key: secret.text, scopes: wanted, mode, created_at: isoTimestamp(createdAt) } };
    },
  });

  const list = route({
    method: 'GET',
    path: '/api-keys',
    summary: 'List API keys, newest first',
    extension: true,
    scope: 'any',
    query: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      offset: Type.Integer({ minimum: 0, default: 0 }),
    }),
    responses: { 200: PageOf(ListedKey) },
    async handler({ principal, query: { limit, offset } }) {
      const where = { accountId: principal.accountId, status: 'active' as const };
      const [keys, total] = await database.listPage(principal.accountId, ApiKey, where, { limit, offset });
      const data = keys.map(
        (key): Static<typeof ListedKey> => ({
          id: key.id,
          name: key.name,
          scopes: key.scopes,
          mode: key.mode,
          created_at: isoTimestamp(key.createdAt),
          last_four: key.lastFour,
          last_used_at: key.lastUsedAt == null ? null : isoTimestamp(key.lastUsedAt),
        }),
      );
      return { status: 200, json: page(data, offset, total) };
    },
  });

  const revoke = route({
    method: 'DELETE',
    path: '/api-keys/{id}',
    summary: 'Revoke an API key',
    description: 'The key is refused within a second. A key can revoke only keys that it could have created.',
    extension: true,
    scope: 'any',
    errors: [403],
    responses: { 204: null },
    async handler({ principal, params }) {
      const { accountId } = principal;
      const facts = ownedBy(principal, await actors.query(apiKey, params.id, 'facts', null), 'API key');
      mustHold(principal, facts.scopes, facts.mode);
      await actors.ask(apiKey, params.id, 'revoke', { accountId });
      return { status: 204 };
    },
  });

  return [create, list, revoke];
}

/** A key manages only keys with no more rights than its own. */
function mustHold(principal: Principal, wanted: readonly string[], mode: KeyMode): void {
  const lacking = lackingScope(principal, wanted);
  if (lacking !== undefined) throw new AppError('forbidden', `This key does not have the scope ${lacking} itself`);
  if (principal.mode === 'test' && mode !== 'test') throw new AppError('forbidden', 'A test key cannot manage live keys');
}
