/** Who calls a node: tokens, keys and cookies, how people sign in, and the routes of all of that. */
import type { ActorSystem } from '../actors/actor-system.ts';
import type { Clock } from '../clock.ts';
import { settingsRoutes } from '../domains/accounts/routes/settings.ts';
import { createApiKeySecrets } from '../domains/identity/auth/api-key-secret.ts';
import { type Authenticator, createAuthenticator } from '../domains/identity/auth/authenticate.ts';
import { type CookieSessions, createCookieSessions } from '../domains/identity/auth/cookie-session.ts';
import { HashLanes } from '../domains/identity/auth/hash-lanes.ts';
import { createPasswords } from '../domains/identity/auth/passwords.ts';
import { createRefreshTokens } from '../domains/identity/auth/refresh-token.ts';
import { createSignIn } from '../domains/identity/auth/sign-in.ts';
import { apiKeyRoutes } from '../domains/identity/routes/api-keys.ts';
import { authRoutes } from '../domains/identity/routes/auth.ts';
import { emailVerificationRoutes } from '../domains/identity/routes/email-verification.ts';
import { passwordRoutes } from '../domains/identity/routes/passwords.ts';
import { profileRoutes } from '../domains/identity/routes/profile.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import type { AnyRoute } from '../edge/http/route.ts';
import type { Log } from '../log.ts';
import { Secrets } from '../storage/secrets.ts';
import type { Stores } from './stores.ts';

export type IdentityOptions = {
  stores: Pick<Stores, 'secretKey' | 'acceptedKeys' | 'database'>;
  actors: ActorSystem;
  tokens: Tokens;
  /** Where callers reach the service; asked when somebody signs in. */
  publicUrl(): string;
  clock: Clock;
  log: Log;
};

export type Identity = { authenticator: Authenticator; cookies: CookieSessions; routes: AnyRoute[] };

export function openIdentity({ stores, actors, tokens, publicUrl, clock, log }: IdentityOptions): Identity {
  const { secretKey, acceptedKeys, database } = stores;
  const cookies = createCookieSessions({ secretKey, acceptedKeys, publicUrl });
  const authenticator = createAuthenticator({ actors, database, tokens, cookies, clock, log });
  const lanes = new HashLanes();
  const passwords = createPasswords(lanes);
  const refreshTokens = createRefreshTokens(secretKey, acceptedKeys);
  const signIn = createSignIn({ actors, passwords, lanes, refreshTokens, secrets: new Secrets(secretKey, acceptedKeys), clock });
  const routes = [
    ...authRoutes({ actors, authenticator, signIn, tokens, refreshTokens, cookies, passwords, lanes, clock }),
    ...passwordRoutes({ actors, tokens, passwords, lanes, clock }),
    ...profileRoutes({ actors, signIn, clock }),
    ...emailVerificationRoutes({ actors, tokens, clock }),
    ...apiKeyRoutes({ actors, database, secrets: createApiKeySecrets(secretKey), standing: authenticator.standing, clock }),
    ...settingsRoutes({ actors }),
  ];
  return { authenticator, cookies, routes };
}
