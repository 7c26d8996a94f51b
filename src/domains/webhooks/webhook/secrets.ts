/** The secrets of webhooks, encrypted at rest. */
import { Secrets } from '../../../storage/secrets.ts';
import type { WebhookSecrets } from '../routes/webhooks.ts';

const purpose = 'webhook secrets';

/** Each secret can be decrypted only for its own webhook. */
export function webhookSecrets(secretKey: string, acceptedKeys: readonly string[] = []): WebhookSecrets {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return { seal: (secret, id) => secrets.encrypt(purpose, secret, id), open: (sealed, id) => secrets.decrypt(purpose, sealed, id) };
}
