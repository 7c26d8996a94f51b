/**
 * The token by which a node proves to another that it knows the cluster's SECRET_KEY: PASETO v4.public of the purpose `cluster`, about one
 * stream. It holds the nonce the other side has just made, so that none is good twice, and for whom and by whom it is, so that none can be
 * passed on.
 */
import { InspectFooter, PublicProtocol } from 'paseto';
import { type PublicKey, PublicKeyFromCryptoKey, SecretKeyFromCryptoKey, SignFactory, VerifyFactory } from 'paseto/v4/public';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { signingKey } from '../../signing-key.ts';

export type ClusterClaims = {
  /** The incarnation that signs, and the one that is to read it. */
  from: string;
  to: string;
  side: 'dialer' | 'acceptor';
  protocol: number;
  /** Made by the reader. */
  nonce: Buffer;
};

export interface ClusterTokens {
  sign(claims: ClusterClaims): Promise<string>;
  /** Whether the token was signed with a key of the cluster, just now, and says exactly this. */
  proves(token: string, expected: ClusterClaims): Promise<boolean>;
}

const purpose = 'cluster';
const maxTokenChars = 2_048;
/** The nonce makes it fresh. The time only ends a token's life; nodes whose clocks differ by more than this do not find together. */
const lifeMs = 60_000;
const clockToleranceS = 90;

export type ClusterTokensOptions = {
  /** Signs. */
  secretKey: string;
  /** What others may sign with beside it, while the key is changed. */
  acceptedKeys?: readonly string[];
  clock: Clock;
};

export async function createClusterTokens({ secretKey, acceptedKeys = [], clock }: ClusterTokensOptions): Promise<ClusterTokens> {
  const protocol = new PublicProtocol(SignFactory, VerifyFactory);
  const signing = signingKey(secretKey);
  const secret = await SecretKeyFromCryptoKey(signing.privateKey.toCryptoKey('Ed25519', true, ['sign']));
  const verifying = new Map<string, PublicKey>();
  for (const { id, publicKey } of [signing, ...acceptedKeys.map(signingKey)])
    verifying.set(id, await PublicKeyFromCryptoKey(publicKey.toCryptoKey('Ed25519', true, ['verify'])));
  const footer = Buffer.from(signing.id);

  return {
    sign(claims) {
      const nowMs = clock.nowMs();
      const registered = { aud: purpose, exp: isoTimestamp(nowMs + lifeMs) };
      return protocol.Sign(secret, { ...told(claims), ...registered }, { footer, now: new Date(nowMs) });
    },

    async proves(token, expected) {
      if (token.length > maxTokenChars || !token.startsWith('v4.public.')) return false;
      try {
        const key = verifying.get(Buffer.from(InspectFooter(token)).toString());
        if (key === undefined) return false;
        const options = { audience: purpose, now: new Date(clock.nowMs()), clockTolerance: clockToleranceS };
        const claims = (await protocol.Verify(key, token, options)).claims as Record<string, unknown>;
        return Object.entries(told(expected)).every(([name, value]) => claims[name] === value);
      } catch (error) {
        if (String((error as { code?: unknown }).code).startsWith('ERR_PASETO_')) return false;
        throw error;
      }
    },
  };
}

function told({ from, to, side, protocol, nonce }: ClusterClaims): Record<string, string | number> {
  return { sub: from, to, side, protocol, nonce: nonce.toString('base64url') };
}
