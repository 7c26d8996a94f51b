/**
 * The token by which a node proves to another that it has the cluster's SECRET_KEY: PASETO v4.public with the purpose `cluster`, for one
 * stream. It contains the nonce that the other side has just made, so that no token is valid twice, and names sender and receiver, so that
 * no token can be forwarded.
 */
import { InspectFooter, PublicProtocol } from 'paseto';
import { type PublicKey, PublicKeyFromCryptoKey, SecretKeyFromCryptoKey, SignFactory, VerifyFactory } from 'paseto/v4/public';
import { type Clock, isoTimestamp } from '../../clock.ts';
import { signingKey } from '../../signing-key.ts';

export type ClusterClaims = {
  /** The incarnation that signs, and the one that verifies. */
  from: string;
  to: string;
  side: 'dialer' | 'acceptor';
  protocol: number;
  /** Made by the verifier. */
  nonce: Buffer;
};

export interface ClusterTokens {
  sign(claims: ClusterClaims): Promise<string>;
  /** Whether the token was just signed with a key of the cluster and contains exactly these claims. */
  proves(token: string, expected: ClusterClaims): Promise<boolean>;
}

const purpose = 'cluster';
const maxTokenChars = 2_048;
/** The nonce makes the token fresh. The time only ends its life; nodes whose clocks differ by more than this cannot connect. */
const lifeMs = 60_000;
const clockToleranceS = 90;

export type ClusterTokensOptions = {
  /** The key that signs. */
  secretKey: string;
  /** Other keys that are accepted while the key is being changed. */
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
      return protocol.Sign(secret, { ...tokenClaims(claims), ...registered }, { footer, now: new Date(nowMs) });
    },

    async proves(token, expected) {
      if (token.length > maxTokenChars || !token.startsWith('v4.public.')) return false;
      try {
        const key = verifying.get(Buffer.from(InspectFooter(token)).toString());
        if (key === undefined) return false;
        const options = { audience: purpose, now: new Date(clock.nowMs()), clockTolerance: clockToleranceS };
        const claims = (await protocol.Verify(key, token, options)).claims as Record<string, unknown>;
        return Object.entries(tokenClaims(expected)).every(([name, value]) => claims[name] === value);
      } catch (error) {
        if (String((error as { code?: unknown }).code).startsWith('ERR_PASETO_')) return false;
        throw error;
      }
    },
  };
}

function tokenClaims({ from, to, side, protocol, nonce }: ClusterClaims): Record<string, string | number> {
  return { sub: from, to, side, protocol, nonce: nonce.toString('base64url') };
}
