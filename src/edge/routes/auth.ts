/** Signing up, in and out. None of these takes an Idempotency-Key: their answers are tokens. */
import Type from 'typebox';
import { account } from '../../actors/account/messages.ts';
import { emailAddress, emailAddressId } from '../../actors/email-address/messages.ts';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { session } from '../../actors/session/messages.ts';
import { user } from '../../actors/user/messages.ts';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { derivedId, idPrefixes, newId } from '../../ids.ts';
import { plans } from '../../plans.ts';
import type { AccountOverrides } from '../../storage/account-overrides.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { RefreshTokens } from '../auth/refresh-token.ts';
import { accessTokenLifeMs, type Tokens } from '../auth/tokens.ts';
import { type AnyRoute, route } from '../http/route.ts';

export type AuthRoutesOptions = {
  actors: ActorSystem;
  tokens: Tokens;
  refreshTokens: RefreshTokens;
  passwords: Passwords;
  clock: Clock;
  /** Left out: no operator sets anything. */
  overrides: Pick<AccountOverrides, 'of'>;
};

const Email = Type.String({ format: 'email', maxLength: 254, description: 'Case does not matter' });
const Message = Type.Object({ message: Type.String() });
const RefreshToken = Type.Object({ refresh_token: Type.String({ maxLength: 256 }) });
const TokenResponse = Type.Object({
  access_token: Type.String({ description: 'A PASETO v4.public token' }),
  refresh_token: Type.String({ description: 'Good once, within seven days' }),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Life of the access token in seconds' }),
});
const CurrentUser = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  account_id: Type.String(),
  plan: Type.Enum([...plans]),
  two_factor_enabled: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
});

export function authRoutes({ actors, tokens, refreshTokens, passwords, clock, overrides }: AuthRoutesOptions): AnyRoute[] {
  async function tokenResponse(claims: { userId: string; accountId: string; sessionId: string }, refreshToken: string) {
    const accessToken = await tokens.accessToken(claims);
    return { access_token: accessToken, refresh_token: refreshToken, token_type: 'bearer' as const, expires_in: accessTokenLifeMs / 1000 };
  }

  async function openSession(userId: string, accountId: string) {
    const sessionId = newId(idPrefixes.session, clock.nowMs());
    const refresh = refreshTokens.issue(sessionId);
    await actors.ask(session, sessionId, 'open', { userId, accountId, refreshHash: refresh.hash });
    return tokenResponse({ userId, accountId, sessionId }, refresh.text);
  }

  const register = route({
    method: 'POST',
    path: '/auth/register',
    summary: 'Make an account and sign in',
    scope: null,
    idempotent: false,
    errors: [409],
    body: Type.Object({
      email: Email,
      password: Type.String({ minLength: 10, maxLength: 128 }),
      name: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Null()])),
    }),
    responses: { 201: TokenResponse },
    async handler({ body }) {
      const addressId = emailAddressId(body.email);
      // Spares the hash where it is clear already; who is first is decided by the address itself.
      if (await actors.query(emailAddress, addressId, 'isTaken', null))
        throw new AppError('conflict', 'A user with this email exists already');
      const registrationId = newId(idPrefixes.request, clock.nowMs());
      const passwordHash = await passwords.hash(body.password);
      const registration = { registrationId, email: body.email, name: body.name ?? null, passwordHash };
      const { userId, accountId } = await actors.ask(emailAddress, addressId, 'register', registration);
      return { status: 201, json: await openSession(userId, accountId) };
    },
  });

  const login = route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Sign in',
    scope: null,
    idempotent: false,
    errors: [401],
    body: Type.Object({ email: Type.String({ maxLength: 320 }), password: Type.String({ maxLength: 1_024 }) }),
    responses: { 200: TokenResponse },
    async handler({ body }) {
      const addressId = emailAddressId(body.email);
      const holder = await actors.query(emailAddress, addressId, 'holder', null);
      // The same steps for an address nobody holds, so that time does not tell.
      const userId = holder?.userId ?? derivedId(idPrefixes.user, addressId);
      const credentials = await actors.query(user, userId, 'credentials', null);
      const matches = await passwords.matches(body.password, credentials?.passwordHash ?? null);
      if (!matches || credentials === null) throw new AppError('unauthenticated', 'Incorrect email or password');
      return { status: 200, json: await openSession(userId, credentials.accountId) };
    },
  });

  const refresh = route({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for new tokens',
    description: 'The refresh token dies. Presenting a dead one ends its whole session.',
    scope: null,
    idempotent: false,
    errors: [401],
    body: RefreshToken,
    responses: { 200: TokenResponse },
    async handler({ body }) {
      const presented = refreshTokens.read(body.refresh_token);
      if (presented === null) throw invalidRefreshToken();
      const { sessionId } = presented;
      const next = refreshTokens.issue(sessionId);
      const owner = await actors.ask(session, sessionId, 'rotate', { presentedHash: presented.hash, nextHash: next.hash });
      if (owner === null) throw invalidRefreshToken();
      return { status: 200, json: await tokenResponse({ ...owner, sessionId }, next.text) };
    },
  });

  const logout = route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Sign out',
    description: 'Ends the session of the refresh token: its tokens, access tokens included, are refused within a second.',
    scope: 'session',
    idempotent: false,
    body: RefreshToken,
    responses: { 200: Message },
    async handler({ body, principal }) {
      const presented = refreshTokens.read(body.refresh_token);
      const { userId } = principal;
      if (presented === null || !(await actors.ask(session, presented.sessionId, 'revoke', { userId }))) throw invalidRefreshToken();
      return { status: 200, json: { message: 'Signed out' } };
    },
  });

  const me = route({
    method: 'GET',
    path: '/auth/me',
    summary: 'The user behind the token',
    scope: 'any',
    responses: { 200: CurrentUser },
    async handler({ principal }) {
      const [profile, owned, override] = await Promise.all([
        actors.query(user, principal.userId, 'profile', null),
        actors.query(account, principal.accountId, 'get', null),
        overrides.of(principal.accountId),
      ]);
      if (profile === null || owned === null) throw new AppError('unauthenticated', 'Not authenticated');
      const { id, email, name, accountId, createdAt } = profile;
      // Nobody can have enrolled a second factor: there is no way to.
      const twoFactor = { two_factor_enabled: false };
      const plan = override?.plan ?? owned.plan;
      const json = { id, email, name, account_id: accountId, plan, ...twoFactor, created_at: isoTimestamp(createdAt) };
      return { status: 200, json };
    },
  });

  return [register, login, refresh, logout, me];
}

function invalidRefreshToken(): AppError {
  return new AppError('unauthenticated', 'The refresh token is not valid');
}
