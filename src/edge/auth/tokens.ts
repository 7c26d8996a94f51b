/**
 * Signed tokens: PASETO v4.public, the key's id in the footer, made for one purpose each. What a token says was true when it was signed: whether
 * the session behind it still stands, or a reset was used, is not in it.
 *
 * Tokens are signed with one key and read with all that are accepted, so that keys can be changed while tokens of the earlier one live on.
 */
import { InspectFooter, PublicProtocol } from 'paseto';
import { type PublicKey, PublicKeyFromCryptoKey, SecretKeyFromCryptoKey, SignFactory, VerifyFactory } from 'paseto/v4/public';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { signingKey } from '../../signing-key.ts';

const hourMs = 3_600_000;
export const accessTokenLifeMs = hourMs;
export const cookieLifeMs = 7 * 24 * hourMs;
export const challengeLifeMs = 300_000;
const downloadLifeMs = hourMs;

/** `session` names the session whose standing decides. */
export type AccessClaims = { userId: string; accountId: string; sessionId: string };
/** The password was right, a code is to come. `generation` is the user's at that moment. */
export type ChallengeClaims = { userId: string; accountId: string; generation: number };
export type ResetClaims = { userId: string; resetId: string };
export type VerificationClaims = { userId: string; verificationId: string };
export type DownloadClaims = {
  accountId: string;
  userId: string;
  /** The one path it opens, without the /v1 prefix, as it stands in the URL. */
  path: string;
  /** What its bearer may do there, e.g. `workspaces.read`. */
  scope: string;
};

/** Each `read…` answers null for what is forged, altered, expired, or made for another purpose. */
export interface Tokens {
  /** For the Authorization header: an hour. */
  accessToken(claims: AccessClaims): Promise<string>;
  readAccessToken(token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null>;
  /** For a browser's cookie: seven days. */
  cookieToken(claims: AccessClaims): Promise<string>;
  readCookieToken(token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null>;
  /** Between the password and the code: five minutes. */
  challengeToken(claims: ChallengeClaims): Promise<string>;
  readChallengeToken(token: string): Promise<ChallengeClaims | null>;
  /** For a mail. */
  resetToken(claims: ResetClaims & { expiresAtMs: number }): Promise<string>;
  readResetToken(token: string): Promise<ResetClaims | null>;
  /** For a mail. */
  verificationToken(claims: VerificationClaims & { expiresAtMs: number }): Promise<string>;
  readVerificationToken(token: string): Promise<VerificationClaims | null>;
  /** For a link that opens one path without a header: an hour. */
  downloadToken(claims: DownloadClaims): Promise<string>;
  readDownloadToken(token: string): Promise<DownloadClaims | null>;
}

export type TokensOptions = {
  /** Signs. */
  secretKey: string;
  /** What tokens may be signed with beside it. */
  acceptedKeys?: readonly string[];
  clock: Clock;
};

type Claims = Record<string, string | number>;
type Found = { claims: any; expiresAtMs: number };

/** Of when a token was signed: that may be a little later by the signer's clock than by the reader's. When it ends is strict. */
const clockToleranceS = 90;
/** Longer ones are not ours, and not worth a signature check. */
const maxTokenChars = 2_048;

export async function createTokens({ secretKey, acceptedKeys = [], clock }: TokensOptions): Promise<Tokens> {
  const protocol = new PublicProtocol(SignFactory, VerifyFactory);
  const signing = signingKey(secretKey);
  const secret = await SecretKeyFromCryptoKey(signing.privateKey.toCryptoKey('Ed25519', true, ['sign']));
  const footer = Buffer.from(signing.id);
  const verifying = new Map<string, PublicKey>();
  for (const { id, publicKey } of [signing, ...acceptedKeys.map(signingKey)])
    verifying.set(id, await PublicKeyFromCryptoKey(publicKey.toCryptoKey('Ed25519', true, ['verify'])));

  function sign(purpose: string, expiresAtMs: number, claims: Claims): Promise<string> {
    return protocol.Sign(secret, { ...claims, aud: purpose, exp: isoTimestamp(expiresAtMs) }, { footer, now: new Date(clock.nowMs()) });
  }

  async function read(purpose: string, token: string): Promise<Found | null> {
    if (token.length > maxTokenChars || !token.startsWith('v4.public.')) return null;
    const nowMs = clock.nowMs();
    try {
      const key = verifying.get(Buffer.from(InspectFooter(token)).toString());
      if (key === undefined) return null;
      const options = { audience: purpose, now: new Date(nowMs), clockTolerance: clockToleranceS };
      const { claims } = await protocol.Verify(key, token, options);
      const expiresAtMs = Date.parse(claims.exp!);
      return nowMs < expiresAtMs ? { claims, expiresAtMs } : null;
    } catch (error) {
      if (String((error as { code?: unknown }).code).startsWith('ERR_PASETO_')) return null;
      throw error;
    }
  }

  function signSession(purpose: string, lifeMs: number, { userId, accountId, sessionId }: AccessClaims): Promise<string> {
    return sign(purpose, clock.nowMs() + lifeMs, { sub: userId, account: accountId, session: sessionId });
  }

  async function readSession(purpose: string, token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null> {
    const found = await read(purpose, token);
    if (found === null) return null;
    const { sub, account, session } = found.claims;
    return { userId: sub, accountId: account, sessionId: session, expiresAtMs: found.expiresAtMs };
  }

  return {
    accessToken: (claims) => signSession('access', accessTokenLifeMs, claims),
    readAccessToken: (token) => readSession('access', token),
    cookieToken: (claims) => signSession('cookie', cookieLifeMs, claims),
    readCookieToken: (token) => readSession('cookie', token),
    challengeToken: ({ userId, accountId, generation }) =>
      sign('challenge', clock.nowMs() + challengeLifeMs, { sub: userId, account: accountId, generation }),
    async readChallengeToken(token) {
      const { sub, account, generation } = (await read('challenge', token))?.claims ?? {};
      return sub === undefined ? null : { userId: sub, accountId: account, generation };
    },
    resetToken: ({ userId, resetId, expiresAtMs }) => sign('reset', expiresAtMs, { sub: userId, reset: resetId }),
    async readResetToken(token) {
      const { sub, reset } = (await read('reset', token))?.claims ?? {};
      return sub === undefined ? null : { userId: sub, resetId: reset };
    },
    verificationToken: ({ userId, verificationId, expiresAtMs }) =>
      sign('email verification', expiresAtMs, { sub: userId, verification: verificationId }),
    async readVerificationToken(token) {
      const { sub, verification } = (await read('email verification', token))?.claims ?? {};
      return sub === undefined ? null : { userId: sub, verificationId: verification };
    },
    downloadToken: ({ accountId, userId, path, scope }) =>
      sign('download', clock.nowMs() + downloadLifeMs, { sub: userId, account: accountId, path, scope }),
    async readDownloadToken(token) {
      const { sub, account, path, scope } = (await read('download', token))?.claims ?? {};
      return sub === undefined ? null : { userId: sub, accountId: account, path, scope };
    },
  };
}
