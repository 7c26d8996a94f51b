/** Identity on a node: users, keys and sessions, and how they sign in. */
import type { Platform, StartedDomain } from '../domain.ts';
import { apiKeyActor } from './api-key/api-key.ts';
import { emailAddressActor } from './email-address/email-address.ts';
import { openIdentity } from './open-identity.ts';
import { passwordResetActor } from './password-reset/password-reset.ts';
import { pastSessions, pastThrottles } from './retention.ts';
import { sessionActor } from './session/session.ts';
import { throttleActor } from './throttle/throttle.ts';
import { keyRevocation } from './user/key-revocation.ts';
import { userMails } from './user/mails.ts';
import { userActor } from './user/user.ts';

export function startIdentity(platform: Platform): StartedDomain {
  const { actors, database, mail, tokens, clock } = platform;
  const { publicUrl } = platform.config;
  const { authenticator, routes } = openIdentity(platform);
  return {
    actors: [
      userActor({ ...userMails({ mail, ...tokens, publicUrl }), revokeKeys: keyRevocation({ actors, database }) }),
      emailAddressActor,
      sessionActor,
      apiKeyActor,
      throttleActor,
      passwordResetActor,
    ],
    routes,
    authenticator,
    jobs: [pastThrottles(clock), pastSessions(clock)],
  };
}
