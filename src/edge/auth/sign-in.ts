/**
 * Finds out who is signing in: by e-mail address and password, by a code of the second factor. Each takes the same steps whether or not there is
 * such a user, so that neither time nor words tell.
 */
import { emailAddress, emailAddressId } from '../../actors/email-address/messages.ts';
import type { ActorSystem } from '../../actors/runtime/actor-system.ts';
import { session } from '../../actors/session/messages.ts';
import { type Proof, user } from '../../actors/user/messages.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { derivedId, idPrefixes, newId } from '../../ids.ts';
import type { Secrets } from '../../storage/secrets.ts';
import { attempt, loginFromAddress, loginOfEmail, secondFactorOf } from './attempts.ts';
import { recoveryHash, stepOfCode } from './one-time-codes.ts';
import type { Passwords } from './passwords.ts';
import type { RefreshTokens } from './refresh-token.ts';
import type { AccessClaims } from './tokens.ts';

/** A user whose password, and code where there is a second factor, were right. `generation` is what a session of it is opened with. */
export type SignedIn = { userId: string; accountId: string; generation: number };

export interface SignIn {
  /**
   * Throws `unauthenticated` for a wrong pair and `rate_limited` after too many of them.
   *
   * @param address the client's
   */
  byPassword(email: string, password: string, address: string): Promise<SignedIn & { twoFactorEnabled: boolean }>;
  /** Uses a TOTP or recovery code up. Throws as `byPassword` does; also where the user's sessions have ended since the password was checked. */
  byCode(who: SignedIn, code: string): Promise<void>;
  /** Ends the second factor at the price of a code. Throws `bad_request` for a wrong one and `rate_limited` after too many. */
  disableSecondFactor(userId: string, code: string): Promise<void>;
  /** Encrypts the secret of a second factor. */
  seal(userId: string, secret: string): string;
  /** The step of a code by a sealed secret; null where it is not right. */
  stepOf(userId: string, sealed: string, code: string): number | null;
  /** Opens a session and makes its first refresh token. */
  openSession(who: SignedIn): Promise<{ claims: AccessClaims; refreshToken: string }>;
}

export type SignInOptions = { actors: ActorSystem; passwords: Passwords; refreshTokens: RefreshTokens; secrets: Secrets; clock: Clock };

const purpose = 'second factors';

export function createSignIn({ actors, passwords, refreshTokens, secrets, clock }: SignInOptions): SignIn {
  const parts = { actors, clock };

  async function checkPassword(email: string, password: string) {
    const addressId = emailAddressId(email);
    const holder = await actors.query(emailAddress, addressId, 'holder', null);
    const userId = holder?.userId ?? derivedId(idPrefixes.user, addressId);
    const credentials = await actors.query(user, userId, 'credentials', null);
    const matches = await passwords.matches(password, credentials?.passwordHash ?? null);
    if (!matches || credentials === null) return null;
    const { accountId, generation, twoFactorEnabled } = credentials;
    return { userId, accountId, generation, twoFactorEnabled };
  }

  const stepOf = (userId: string, sealed: string, code: string): number | null =>
    stepOfCode(secrets.decrypt(purpose, sealed, userId), code, clock.nowMs());

  const seal = (userId: string, secret: string): string => secrets.encrypt(purpose, secret, userId);

  /** What a code proves, and the secret encrypted anew where an earlier key did it; null where it proves nothing. */
  async function proofOf(userId: string, typed: string): Promise<{ proof: Proof; resealed: string | null } | null> {
    const factor = await actors.query(user, userId, 'secondFactor', null);
    if (factor?.status !== 'enabled') return null;
    const code = typed.replace(/\s/g, '');
    if (!/^\d{6}$/.test(code)) return { proof: { recoveryHash: recoveryHash(code) }, resealed: null };
    const step = stepOf(userId, factor.sealed, code);
    if (step === null) return null;
    const resealed = secrets.isCurrent(factor.sealed) ? null : seal(userId, secrets.decrypt(purpose, factor.sealed, userId));
    return { proof: { step }, resealed };
  }

  return {
    seal,
    stepOf,
    byPassword: (email, password, address) =>
      attempt(
        parts,
        [loginOfEmail(email), loginFromAddress(address)],
        () => checkPassword(email, password),
        () => new AppError('unauthenticated', 'Incorrect email or password'),
      ),
    async byCode(who, code) {
      const use = async () => {
        const proven = await proofOf(who.userId, code);
        if (proven === null) return null;
        return (await actors.ask(user, who.userId, 'useCode', { ...proven, generation: who.generation })) ? who : null;
      };
      await attempt(parts, [secondFactorOf(who.userId)], use, () => new AppError('unauthenticated', 'Incorrect code'));
    },
    async disableSecondFactor(userId, code) {
      const disable = async () => {
        const proven = await proofOf(userId, code);
        if (proven === null) return null;
        return (await actors.ask(user, userId, 'disable', { proof: proven.proof })) ? proven : null;
      };
      await attempt(parts, [secondFactorOf(userId)], disable, wrongCode);
    },
    async openSession({ userId, accountId, generation }) {
      const sessionId = newId(idPrefixes.session, clock.nowMs());
      const refresh = refreshTokens.issue(sessionId);
      await actors.ask(session, sessionId, 'open', { userId, accountId, generation, refreshHash: refresh.hash });
      return { claims: { userId, accountId, sessionId }, refreshToken: refresh.text };
    },
  };
}

export function wrongCode(): AppError {
  return new AppError('bad_request', 'The code is not right, or was used before');
}
