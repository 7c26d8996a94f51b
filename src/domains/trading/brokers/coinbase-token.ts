/** The token of one request to Coinbase: a JWT signed with the key's P-256 half (ES256), valid for two minutes, naming the request it is for. */
import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';

export type CoinbaseKey = { name: string; key: KeyObject };

const validS = 120;

/** null: not a key for this API, which uses EC on P-256. Ed25519 keys are for other APIs of Coinbase. */
export function readCoinbaseKey(name: string, pem: string): CoinbaseKey | null {
  try {
    // In a key copied from a settings file, line ends are often escaped.
    const key = createPrivateKey(pem.trim().replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? { name, key } : null;
  } catch {
    return null;
  }
}

/** @param uri method, host and path without the query, e.g. `GET api.coinbase.com/api/v3/brokerage/accounts`; null for the stream */
export function coinbaseToken({ name, key }: CoinbaseKey, uri: string | null, nowMs: number): string {
  const nowS = Math.floor(nowMs / 1_000);
  const header = { alg: 'ES256', typ: 'JWT', kid: name, nonce: randomBytes(16).toString('hex') };
  const claims = { sub: name, iss: 'cdp', nbf: nowS, exp: nowS + validS, ...(uri !== null && { uri }) };
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
