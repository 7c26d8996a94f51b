/**
 * Codes that are valid once: TOTP (RFC 6238: SHA-1, six digits, 30 seconds, as in every authenticator app), with a tolerance of one step
 * for inaccurate clocks, and recovery codes for a lost phone. The user's actor records used codes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import encodeQr from 'qr';

const periodS = 30;
const secretBytes = 20;
const maxStepOffset = 1;
const recoveryCodeCount = 10;
const recoveryBytes = 10;
const issuer = 'Troupe';

export type Enrolment = {
  /** Base32, as people type it. */
  secret: string;
  otpauthUrl: string;
  qrSvg: string;
};

/** A new secret, in the forms for authenticator apps. @param label its owner, e.g. the e-mail address */
export function newEnrolment(label: string): Enrolment {
  const secret = newSecret(secretBytes);
  const otpauthUrl = new TOTP({ issuer, label, secret, period: periodS }).toString();
  return { secret: secret.base32, otpauthUrl, qrSvg: encodeQr(otpauthUrl, 'svg') };
}

/** The time step of this code; null if it belongs to no step near `nowMs`. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const stepOffset = TOTP.validate({
    token: code,
    secret: Secret.fromBase32(secret),
    period: periodS,
    timestamp: nowMs,
    window: maxStepOffset,
  });
  return stepOffset === null ? null : TOTP.counter({ period: periodS, timestamp: nowMs }) + stepOffset;
}

/** Ten new codes, `xxxx-xxxx-xxxx-xxxx`: 80 random bits each, so a plain hash does not reveal them. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () =>
    newSecret(recoveryBytes)
      .base32.toLowerCase()
      .replace(/(.{4})(?!$)/g, '$1-'),
  );
}

/** The stored form of a recovery code. Case, white space and hyphens are ignored. */
export function recoveryHash(code: string): string {
  return createHash('sha256').update(code.replace(/[\s-]/g, '').toLowerCase()).digest('hex');
}

function newSecret(bytes: number): Secret {
  return new Secret({ buffer: new Uint8Array(randomBytes(bytes)).buffer });
}
