/** Sign-up, sign-in and sign-out. None of these supports an Idempotency-Key, because their answers are tokens. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Authenticator } from '../../../edge/auth/authenticator.ts';
import { type AccessClaims, accessTokenLifeMs, challengeLifeMs, cookieLifeMs, type Tokens } from '../../../edge/auth/tokens.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { idPrefixes, newId } from '../../../ids.ts';
import type { CookieSessions } from '../auth/cookie-session.ts';
import type { HashQueues } from '../auth/hash-queues.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { RefreshTokens } from '../auth/refresh-token.ts';
import type { SignedIn, SignIn } from '../auth/sign-in.ts';
import { emailAddress, emailAddressId } from '../email-address/messages.ts';
import { session } from '../session/messages.ts';
import { user } from '../user/messages.ts';
import { Challenge, Code, Credentials, Email, Message, Name, NewPassword, RefreshToken, TokenResponse } from './auth-schemas.ts';

export type AuthRoutesOptions = {
  actors: ActorSystem;
  authenticator: Pick<Authenticator, 'authenticate'>;
  signIn: SignIn;
  tokens: Tokens;
  refreshTokens: RefreshTokens;
  cookies: CookieSessions;
  passwords: Passwords;
  hashQueues: HashQueues;
  clock: Clock;
};

const tooOften = 'After five wrong ones within 15 minutes, or twenty from one address, it is 429, whether or not the next is right.';

export function authRoutes(options: AuthRoutesOptions): AnyRoute[] {
  const { actors, authenticator, signIn, tokens, refreshTokens, cookies, passwords, hashQueues, clock } = options;

  async function tokenResponse(claims: AccessClaims, refreshToken: string) {
    const accessToken = await tokens.accessToken(claims);
    return { access_token: accessToken, refresh_token: refreshToken, token_type: 'bearer' as const, expires_in: accessTokenLifeMs / 1000 };
  }

  async function openSession(signedIn: SignedIn) {
    const { claims, refreshToken } = await signIn.openSession(signedIn);
    return tokenResponse(claims, refreshToken);
  }

  async function challenge(signedIn: SignedIn) {
    const challengeToken = await tokens.challengeToken(signedIn);
    return { two_factor_required: true as const, challenge_token: challengeToken, expires_in: (challengeLifeMs / 1000) as 300 };
  }

  const register = route({
    method: 'POST',
    path: '/auth/register',
    summary: 'Create an account and sign in',
    scope: null,
    idempotent: false,
    errors: [409],
    body: Type.Object({ email: Email, password: NewPassword, name: Name }),
    responses: { 201: TokenResponse },
    async handler({ body, request }) {
      const addressId = emailAddressId(body.email);
      // Avoids the hash if the address is known to be taken; its actor decides between concurrent requests.
      if (await actors.query(emailAddress, addressId, 'isTaken', null))
        throw new AppError('conflict', 'A user with this email exists already');
      const registrationId = newId(idPrefixes.request, null, clock.nowMs());
      const passwordHash = await passwords.hash(body.password, hashQueues.requesterOf(request.clientAddress, 'register'));
      const registration = { registrationId, email: body.email.normalize('NFC'), name: body.name ?? null, passwordHash };
      const holder = await actors.ask(emailAddress, addressId, 'register', registration);
      return { status: 201, json: await openSession({ ...holder, generation: 0 }) };
    },
  });

  const login = route({
    method: 'POST',
    path: '/auth/login',
    servedWhenDiskFull: true,
    summary: 'Sign in',
    description: `Where the user has a second factor, the answer holds no tokens but a challenge. ${tooOften}`,
    scope: null,
    idempotent: false,
    errors: [401],
    body: Type.Object(Credentials),
    responses: { 200: Type.Union([TokenResponse, Challenge]) },
    async handler({ body, request }) {
      const signedIn = await signIn.byPassword(body.email, body.password, request.clientAddress);
      return { status: 200, json: signedIn.twoFactorEnabled ? await challenge(signedIn) : await openSession(signedIn) };
    },
  });

  const loginWithCode = route({
    method: 'POST',
    path: '/auth/login/2fa',
    servedWhenDiskFull: true,
    summary: 'Sign in with the second factor',
    description: 'A code is valid once. After five wrong codes within 15 minutes the response is 429, also for a right code.',
    scope: null,
    idempotent: false,
    errors: [401],
    body: Type.Object({ challenge_token: Type.String({ maxLength: 2_048 }), code: Code }),
    responses: { 200: TokenResponse },
    async handler({ body }) {
      const signedIn = await tokens.readChallengeToken(body.challenge_token);
      if (signedIn === null) throw new AppError('unauthenticated', 'The challenge is not valid or has expired: sign in again');
      await signIn.byCode(signedIn, body.code);
      return { status: 200, json: await openSession(signedIn) };
    },
  });

  const refresh = route({
    method: 'POST',
    path: '/auth/refresh',
    servedWhenDiskFull: true,
    summary: 'Exchange a refresh token for new tokens',
    description: 'The refresh token becomes invalid. Using an invalid refresh token again ends its session.',
    scope: null,
    idempotent: false,
    errors: [401],
    body: RefreshToken,
    responses: { 200: TokenResponse },
    async handler({ body }) {
      const presented = refreshTokens.read(body.refresh_token);
      if (presented === null) throw invalidRefreshToken();
      const { sessionId } = presented;
      // All other refusals come first, so that the presented token stays valid. `rotate` checks the token.
      const opened = await actors.query(session, sessionId, 'opened', null);
      if (opened !== null && (await actors.query(user, opened.userId, 'generation', null)) !== opened.generation)
        throw invalidRefreshToken();
      const next = refreshTokens.issue(sessionId);
      const owner = await actors.ask(session, sessionId, 'rotate', { presentedHash: presented.hash, nextHash: next.hash });
      if (owner === null) throw invalidRefreshToken();
      const { userId, accountId } = owner;
      return { status: 200, json: await tokenResponse({ userId, accountId, sessionId }, next.text) };
    },
  });

  const logout = route({
    method: 'POST',
    path: '/auth/logout',
    servedWhenDiskFull: true,
    summary: 'Sign out',
    description: 'Ends the session of the refresh token and that of the access token: their tokens are refused within a second.',
    scope: 'session',
    idempotent: false,
    body: RefreshToken,
    responses: { 200: Message },
    async handler({ body, principal: { id, userId } }) {
      const presented = refreshTokens.read(body.refresh_token);
      if (presented === null || !(await actors.ask(session, presented.sessionId, 'revoke', { userId }))) throw invalidRefreshToken();
      if (presented.sessionId !== id) await actors.ask(session, id, 'revoke', { userId });
      return { status: 200, json: { message: 'Signed out' } };
    },
  });

  /** The browser's session: a new one by password, otherwise that of the access token. */
  async function sessionFor({ email, password }: { email?: string; password?: string }, request: HttpRequest) {
    if (email === undefined && password === undefined) {
      const principal = await authenticator.authenticate(request.header('authorization'));
      if (principal === null) throw new AppError('unauthenticated', 'Not authenticated');
      if (principal.kind !== 'session') throw new AppError('forbidden', 'This needs a user session');
      return { userId: principal.userId, accountId: principal.accountId, sessionId: principal.id };
    }
    if (email === undefined || password === undefined) {
      const field = email === undefined ? 'email' : 'password';
      throw invalidField(['body', field], 'Field required', 'missing');
    }
    const signedIn = await signIn.byPassword(email, password, request.clientAddress);
    return signedIn.twoFactorEnabled ? challenge(signedIn) : (await signIn.openSession(signedIn)).claims;
  }

  const beginSession = route({
    method: 'POST',
    path: '/auth/session',
    summary: 'Sign in with a browser',
    description:
      'Sets two cookies: `troupe_session`, which authenticates, and `troupe_csrf`, whose value goes into the header `X-CSRF-Token` of every request ' +
      'that changes something. Takes an e-mail address and a password, or nothing but the access token of a session. Where the user has a second ' +
      'factor, the password is answered with a challenge: sign in with it and come back with the access token. Over https the names of both ' +
      `cookies begin with \`__Host-\`. ${tooOften}`,
    extension: true,
    scope: null,
    idempotent: false,
    errors: [401, 403],
    body: Type.Object({ email: Type.Optional(Credentials.email), password: Type.Optional(Credentials.password) }),
    responses: {
      200: Challenge,
      201: Type.Object({ csrf_token: Type.String(), expires_in: Type.Integer({ description: 'Lifetime of the cookies in seconds' }) }),
    },
    async handler({ body, request }) {
      const begun = await sessionFor(body, request);
      if ('challenge_token' in begun) return { status: 200, json: begun };
      const { sessionId } = begun;
      const set = cookies.begin(await tokens.cookieToken(begun), sessionId);
      return { status: 201, json: { csrf_token: cookies.csrfToken(sessionId), expires_in: cookieLifeMs / 1000 }, cookies: set };
    },
  });

  const endSession = route({
    method: 'DELETE',
    path: '/auth/session',
    summary: 'Sign out of a browser',
    description: 'Ends the session and deletes its cookies in the browser.',
    extension: true,
    scope: 'session',
    responses: { 204: null },
    async handler({ principal: { id, userId } }) {
      await actors.ask(session, id, 'revoke', { userId });
      return { status: 204, cookies: cookies.end() };
    },
  });

  return [register, login, loginWithCode, refresh, logout, beginSession, endSession];
}

function invalidRefreshToken(): AppError {
  return new AppError('unauthenticated', 'The refresh token is not valid');
}
