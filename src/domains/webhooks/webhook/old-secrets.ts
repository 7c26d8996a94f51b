/** The secrets that sign a webhook's deliveries: the newest, and those before it for a day after their rotation. */
import type { WebhookRow } from './entity.ts';

export const oldSecretMs = 24 * 3_600_000;
/** More would only make the signatures longer. */
export const maxOldSecrets = 4;

type OldSecret = WebhookRow['olderSecrets'][number];

/** The earlier secrets that have not expired, newest first. */
export function oldSecretsOf({ oldSecret, oldSecretExpiresAt, olderSecrets }: WebhookRow, nowMs: number): OldSecret[] {
  const last = oldSecret === null || oldSecretExpiresAt === null ? [] : [{ secret: oldSecret, expiresAt: oldSecretExpiresAt }];
  return [...last, ...olderSecrets].filter(({ expiresAt }) => expiresAt > nowMs);
}
