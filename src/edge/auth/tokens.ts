/**
 * Signed tokens: PASETO v4.public, the key's id in the footer, each made for one purpose. The claims of a token were true when it was
 * signed: they do not say whether the session is still valid or a reset token was already used.
 *
 * Tokens are signed with one key and verified with all accepted keys, so keys can be changed while tokens signed with the earlier key are
 * valid.
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

/** `sessionId` is the session; its state decides whether the token is still accepted. */
export type AccessClaims = { userId: string; accountId: string; sessionId: string };
/** The password was right; the code is still missing. `generation` is the user's generation when the token was signed. */
export type ChallengeClaims = { userId: string; accountId: string; generation: number };
export type ResetClaims = { userId: string; resetId: string };
export type VerificationClaims = { userId: string; verificationId: string };
export type DownloadClaims = {
  accountId: string;
  userId: string;
  /** The one path that the token opens, without the /v1 prefix, encoded as in the URL. */
  path: string;
  /** The scope that the link grants there, e.g. `workspaces.read`. */
  scope: string;
};

/** Each `read…` returns null for a token that is forged, altered, expired, or made for another purpose. */
export interface Tokens {
  /** For the Authorization header; valid for an hour. */
  accessToken(claims: AccessClaims): Promise<string>;
  readAccessToken(token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null>;
  /** For a browser's cookie; valid for seven days. */
  cookieToken(claims: AccessClaims): Promise<string>;
  readCookieToken(token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null>;
  /** For the step between password and code; valid for five minutes. */
  challengeToken(claims: ChallengeClaims): Promise<string>;
  readChallengeToken(token: string): Promise<ChallengeClaims | null>;
  /** For a password-reset mail. */
  resetToken(claims: ResetClaims & { expiresAtMs: number }): Promise<string>;
  readResetToken(token: string): Promise<ResetClaims | null>;
  /** For a verification mail. */
  verificationToken(claims: VerificationClaims & { expiresAtMs: number }): Promise<string>;
  readVerificationToken(token: string): Promise<VerificationClaims | null>;
  /** For a link that opens one path without a header; valid for an hour. */
  downloadToken(claims: DownloadClaims): Promise<string>;
  readDownloadToken(token: string): Promise<DownloadClaims | null>;
}

export type TokensOptions = {
  /** The key that signs. */
  secretKey: string;
  /** Other keys whose signatures are accepted. */
  acceptedKeys?: readonly string[];
  clock: Clock;
};

type Claims = Record<string, string | number>;
type Found = { claims: any; expiresAtMs: number };

/** Tolerance for the time of signing, because the signer's clock may be ahead of the reader's. The expiry has no tolerance. */
const clockToleranceS = 90;
/** A longer text is refused without a signature check: our tokens are shorter. */
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
