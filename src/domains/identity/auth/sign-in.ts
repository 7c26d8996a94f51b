/**
 * Signs users in: by e-mail address and password, and by a code of the second factor. Each takes the same steps whether or not the user
 * exists, so that neither time nor text reveals it.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { AccessClaims } from '../../../edge/auth/tokens.ts';
import { AppError } from '../../../errors.ts';
import { derivedId, newId } from '../../../ids.ts';
import type { Secrets } from '../../../storage/secrets.ts';
import { emailAddress, emailAddressId } from '../email-address/messages.ts';
import { identityIds } from '../ids.ts';
import { session } from '../session/messages.ts';
import { type Proof, user } from '../user/messages.ts';
import { attempt, type Guess, loginOfEmail, loginsFromAddress, passwordOf, secondFactorOf } from './attempts.ts';
import type { HashQueues, HashRequester } from './hash-queues.ts';
import { newRecoveryCodes, recoveryHash, stepOfCode } from './one-time-codes.ts';
import type { Passwords } from './passwords.ts';
import type { RefreshTokens } from './refresh-token.ts';

/** A user whose password, and code if a second factor is enabled, were right. Sessions are opened with `generation`. */
export type SignedIn = { userId: string; accountId: string; generation: number };

export interface SignIn {
  /**
   * Throws `unauthenticated` for a wrong pair and `rate_limited` after too many of them.
   *
   * @param address the client's
   */
  byPassword(email: string, password: string, address: string): Promise<SignedIn & { twoFactorEnabled: boolean }>;
  /** Consumes a TOTP or recovery code. Throws as `byPassword` does; also if the user's sessions have ended since the password check. */
  byCode(signedIn: SignedIn, code: string): Promise<void>;
  /** Checks the password of a signed-in user. Throws `forbidden` if it is wrong, and `rate_limited` after too many. */
  confirmPassword(userId: string, password: string): Promise<void>;
  /**
   * Enables the pending second factor. Returns the recovery codes. Throws `conflict` if none is pending, `bad_request` for a wrong code and
   * `rate_limited` after too many.
   */
  confirmSecondFactor(userId: string, code: string): Promise<string[]>;
  /** Disables the second factor and consumes a code. Throws `bad_request` for a wrong one and `rate_limited` after too many. */
  disableSecondFactor(userId: string, code: string): Promise<void>;
  /** Encrypts the secret of a second factor. */
  seal(userId: string, secret: string): string;
  /** Opens a session and makes its first refresh token. */
  openSession(signedIn: SignedIn): Promise<{ claims: AccessClaims; refreshToken: string }>;
}

export type SignInOptions = {
  actors: ActorSystem;
  passwords: Passwords;
  hashQueues: HashQueues;
  refreshTokens: RefreshTokens;
  secrets: Secrets;
  clock: Clock;
};

type UsableProof = { proof: Proof; resealed: string | null };

const purpose = 'second factors';
const confirmedAlready = () => new AppError('conflict', 'The second factor is confirmed already');

export function createSignIn({ actors, passwords, hashQueues, refreshTokens, secrets, clock }: SignInOptions): SignIn {
  const parts = { actors, clock };

  async function checkPassword(email: string, password: string, requester: HashRequester) {
    const addressId = emailAddressId(email);
    const holder = await actors.query(emailAddress, addressId, 'holder', null);
    const userId = holder?.userId ?? derivedId(identityIds.user, null, addressId);
    const found = await actors.query(user, userId, 'credentials', null);
    // An address may be claimed, until it is verified, for a user who signs in with another one.
    const credentials = found !== null && emailAddressId(found.email) === addressId ? found : null;
    const matches = await passwords.matches(password, credentials?.passwordHash ?? null, requester);
    if (!matches || credentials === null) return null;
    const { accountId, generation, twoFactorEnabled } = credentials;
    return { userId, accountId, generation, twoFactorEnabled };
  }

  async function isPasswordOf(userId: string, password: string): Promise<object | null> {
    const credentials = await actors.query(user, userId, 'credentials', null);
    const requester = hashQueues.requesterOfUser(userId);
    return (await passwords.matches(password, credentials?.passwordHash ?? null, requester)) ? {} : null;
  }

  const stepOf = (userId: string, sealed: string, code: string): number | null =>
    stepOfCode(secrets.decrypt(purpose, sealed, userId), code, clock.nowMs());

  const seal = (userId: string, secret: string): string => secrets.encrypt(purpose, secret, userId);

  /** The proof of a code, and the secret encrypted again if an earlier key encrypted it; null for a wrong code. */
  async function proofOf(userId: string, generation: number | null, typed: string): Promise<UsableProof | null> {
    const factor = await actors.query(user, userId, 'secondFactor', null);
    if (factor?.status !== 'enabled') return null;
    const code = typed.replace(/\s/g, '');
    const step = /^\d{6}$/.test(code) ? stepOf(userId, factor.sealed, code) : undefined;
    if (step === null) return null;
    const proof: Proof = step === undefined ? { recoveryHash: recoveryHash(code) } : { step };
    if (!(await actors.query(user, userId, 'canUseCode', { proof, generation }))) return null;
    const keeps = step === undefined || secrets.isCurrent(factor.sealed);
    return { proof, resealed: keeps ? null : seal(userId, secrets.decrypt(purpose, factor.sealed, userId)) };
  }

  /** A guess at a user's code: a right one has the effect, a wrong one has none. */
  function withCode<F extends object, T>(userId: string, rest: Omit<Guess<F, T>, 'counted'>): Promise<T> {
    return attempt(parts, { counted: [secondFactorOf(userId)], ...rest });
  }

  /** Whether another request has confirmed it. */
  async function isConfirmed(userId: string, sealed: string): Promise<boolean> {
    const factor = await actors.query(user, userId, 'secondFactor', null);
    return factor !== null && factor.status !== 'pending' && factor.sealed === sealed;
  }

  return {
    seal,
    byPassword: (email, password, address) =>
      attempt(parts, {
        counted: [loginOfEmail(email), ...loginsFromAddress(address)],
        check: () => checkPassword(email, password, hashQueues.requesterOf(address, 'login')),
        async act(signedIn) {
          hashQueues.noteRight(address);
          return signedIn;
        },
        refusal: () => new AppError('unauthenticated', 'Incorrect email or password'),
      }),
    async byCode({ userId, generation }, code) {
      await withCode(userId, {
        check: () => proofOf(userId, generation, code),
        act: async (proven) => (await actors.ask(user, userId, 'useCode', { ...proven, generation })) || null,
        refusal: () => new AppError('unauthenticated', 'Incorrect code'),
      });
    },
    async confirmPassword(userId, password) {
      await attempt(parts, {
        counted: [passwordOf(userId)],
        check: () => isPasswordOf(userId, password),
        act: async () => true,
        refusal: () => new AppError('forbidden', 'The password is not right'),
      });
    },
    confirmSecondFactor(userId, code) {
      return withCode(userId, {
        async check() {
          const factor = await actors.query(user, userId, 'secondFactor', null);
          if (factor === null) throw new AppError('conflict', 'No second factor was begun');
          if (factor.status !== 'pending') throw confirmedAlready();
          const step = stepOf(userId, factor.sealed, code.replace(/\s/g, ''));
          return step === null ? null : { sealed: factor.sealed, step };
        },
        async act(begun) {
          const recoveryCodes = newRecoveryCodes();
          if (!(await actors.ask(user, userId, 'confirm', { ...begun, recoveryHashes: recoveryCodes.map(recoveryHash) })))
            throw (await isConfirmed(userId, begun.sealed))
              ? confirmedAlready()
              : new AppError('conflict', 'Another second factor was begun meanwhile');
          return recoveryCodes;
        },
        refusal: wrongCode,
      });
    },
    async disableSecondFactor(userId, code) {
      await withCode(userId, {
        check: () => proofOf(userId, null, code),
        act: async ({ proof }) => (await actors.ask(user, userId, 'disable', { proof })) || null,
        refusal: wrongCode,
      });
    },
    async openSession({ userId, accountId, generation }) {
      const sessionId = newId(identityIds.session, accountId, clock.nowMs());
      const refresh = refreshTokens.issue(sessionId);
      await actors.ask(session, sessionId, 'open', { userId, accountId, generation, refreshHash: refresh.hash });
      return { claims: { userId, accountId, sessionId }, refreshToken: refresh.text };
    },
  };
}

function wrongCode(): AppError {
  return new AppError('bad_request', 'The code is not right, or was used before');
}
