/**
 * Signed tokens: PASETO v4.public, the key's id in the footer, made for one purpose each. An access token is a person's for an hour; a
 * download token opens one path for an hour, without a header. Whether the session behind an access token still stands is not in it: see
 * `authenticate.ts`.
 */
import { InspectFooter, PublicProtocol } from 'paseto';
import { type PublicKey, PublicKeyFromCryptoKey, SecretKeyFromCryptoKey, SignFactory, VerifyFactory } from 'paseto/v4/public';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { signingKey } from '../../signing-key.ts';

export const accessTokenLifeMs = 3_600_000;
const downloadLifeMs = 3_600_000;

export type AccessClaims = { userId: string; accountId: string; sessionId: string };
export type DownloadClaims = {
  accountId: string;
  userId: string;
  /** The one path it opens, without the /v1 prefix, as it stands in the URL. */
  path: string;
  /** What its bearer may do there, e.g. `workspaces.read`. */
  scope: string;
};

export interface Tokens {
  accessToken(claims: AccessClaims): Promise<string>;
  /** null: forged, altered, expired, or made for another purpose. */
  readAccessToken(token: string): Promise<(AccessClaims & { expiresAtMs: number }) | null>;
  downloadToken(claims: DownloadClaims): Promise<string>;
  /** null as above. */
  readDownloadToken(token: string): Promise<DownloadClaims | null>;
}

/** Longer ones are not ours, and not worth a signature check. */
const maxTokenChars = 2_048;

export async function createTokens({ secretKey, clock }: { secretKey: string; clock: Clock }): Promise<Tokens> {
  const protocol = new PublicProtocol(SignFactory, VerifyFactory);
  const signing = signingKey(secretKey);
  const secret = await SecretKeyFromCryptoKey(signing.privateKey.toCryptoKey('Ed25519', true, ['sign']));
  const footer = Buffer.from(signing.id);
  const verifying = new Map<string, PublicKey>([
    [signing.id, await PublicKeyFromCryptoKey(signing.publicKey.toCryptoKey('Ed25519', true, ['verify']))],
  ]);

  function sign(purpose: string, lifeMs: number, claims: Record<string, string>): Promise<string> {
    const nowMs = clock.nowMs();
    return protocol.Sign(secret, { ...claims, aud: purpose, exp: isoTimestamp(nowMs + lifeMs) }, { footer, now: new Date(nowMs) });
  }

  async function read(purpose: string, token: string): Promise<{ claims: Record<string, unknown>; expiresAtMs: number } | null> {
    if (token.length > maxTokenChars || !token.startsWith('v4.public.')) return null;
    const nowMs = clock.nowMs();
    try {
      const key = verifying.get(Buffer.from(InspectFooter(token)).toString());
      if (key === undefined) return null;
      const { claims } = await protocol.Verify(key, token, { audience: purpose, now: new Date(nowMs) });
      const expiresAtMs = Date.parse(claims.exp!);
      return nowMs < expiresAtMs ? { claims, expiresAtMs } : null;
    } catch (error) {
      if (String((error as { code?: unknown }).code).startsWith('ERR_PASETO_')) return null;
      throw error;
    }
  }

  return {
    accessToken: ({ userId, accountId, sessionId }) =>
      sign('access', accessTokenLifeMs, { sub: userId, account: accountId, session: sessionId }),
    async readAccessToken(token) {
      const found = await read('access', token);
      if (found === null) return null;
      const { sub, account, session } = found.claims as { sub: string; account: string; session: string };
      return { userId: sub, accountId: account, sessionId: session, expiresAtMs: found.expiresAtMs };
    },
    downloadToken: ({ accountId, userId, path, scope }) =>
      sign('download', downloadLifeMs, { sub: userId, account: accountId, path, scope }),
    async readDownloadToken(token) {
      const found = await read('download', token);
      if (found === null) return null;
      const { sub, account, path, scope } = found.claims as { sub: string; account: string; path: string; scope: string };
      return { userId: sub, accountId: account, path, scope };
    },
  };
}
