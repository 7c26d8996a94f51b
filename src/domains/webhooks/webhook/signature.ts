/** Signatures by which a receiver verifies a delivery: the service's own header and those of Standard Webhooks (standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const secretBytes = 32;

/** `whsec_` and the base64 of the key. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** The key of both signatures. */
export function keyOfSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64');
}

/**
 * Headers that sign a body.
 *
 * @param keys the newest first; while a secret is being replaced the old one signs too
 * @param messageId the same for every try of one delivery
 */
export function signatureHeaders(keys: readonly Buffer[], messageId: string, timestampS: number, body: string): Record<string, string> {
  const sign = (key: Buffer, text: string, encoding: 'hex' | 'base64') => createHmac('sha256', key).update(text).digest(encoding);
  const own = keys.map((key) => `v1=${sign(key, `${timestampS}.${body}`, 'hex')}`);
  const standard = keys.map((key) => `v1,${sign(key, `${messageId}.${timestampS}.${body}`, 'base64')}`);
  return {
    'x-troupe-signature': [`t=${timestampS}`, ...own].join(','),
    'webhook-id': messageId,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': standard.join(' '),
  };
}
