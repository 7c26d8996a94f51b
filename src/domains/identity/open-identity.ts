/** Authentication on a node: tokens, keys, cookies, sign-in, and their routes. */
import type { ActorSystem } from '../../actors/actor-system.ts';
import type { Clock } from '../../clock.ts';
import type { Authenticator } from '../../edge/auth/authenticator.ts';
import type { Tokens } from '../../edge/auth/tokens.ts';
import type { AnyRoute } from '../../edge/http/route.ts';
import type { Log } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { Secrets } from '../../storage/secrets.ts';
import { createApiKeySecrets } from './auth/api-key-secret.ts';
import { createAuthenticator } from './auth/authenticate.ts';
import { type CookieSessions, createCookieSessions } from './auth/cookie-session.ts';
import { HashQueues } from './auth/hash-queues.ts';
import { createPasswords } from './auth/passwords.ts';
import { createRefreshTokens } from './auth/refresh-token.ts';
import { createSignIn } from './auth/sign-in.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { authRoutes } from './routes/auth.ts';
import { emailVerificationRoutes } from './routes/email-verification.ts';
import { passwordRoutes } from './routes/passwords.ts';
import { profileRoutes } from './routes/profile.ts';

export type IdentityOptions = {
  secretKey: string;
  acceptedKeys: readonly string[];
  database: Database;
  actors: ActorSystem;
  tokens: Tokens;
  /** Where callers reach the service; called at sign-in. */
  publicUrl(): string;
  clock: Clock;
  log: Log;
};

export type Identity = { authenticator: Authenticator; cookies: CookieSessions; routes: AnyRoute[] };

export function openIdentity({ secretKey, acceptedKeys, database, actors, tokens, publicUrl, clock, log }: IdentityOptions): Identity {
  const cookies = createCookieSessions({ secretKey, acceptedKeys, publicUrl });
  const authenticator = createAuthenticator({ actors, database, tokens, cookies, clock, log });
  const hashQueues = new HashQueues();
  const passwords = createPasswords(hashQueues);
  const refreshTokens = createRefreshTokens(secretKey, acceptedKeys);
  const signIn = createSignIn({ actors, passwords, hashQueues, refreshTokens, secrets: new Secrets(secretKey, acceptedKeys), clock });
  const routes = [
    ...authRoutes({ actors, authenticator, signIn, tokens, refreshTokens, cookies, passwords, hashQueues, clock }),
    ...passwordRoutes({ actors, tokens, passwords, hashQueues, clock }),
    ...profileRoutes({ actors, signIn, clock }),
    ...emailVerificationRoutes({ actors, tokens, clock }),
    ...apiKeyRoutes({ actors, database, secrets: createApiKeySecrets(secretKey), isStillValid: authenticator.isStillValid, clock }),
  ];
  return { authenticator, cookies, routes };
}
