/** Headers and tokens of MCP servers, encrypted at rest: those of one server can be read for it alone. */
import { Secrets } from '../../../storage/secrets.ts';

const purpose = 'mcp server secrets';

export type McpSecrets = {
  headers: Record<string, string>;
  access: string | null;
  refresh: string | null;
  /** Of a client that was registered for this account; null: it has none. */
  clientSecret: string | null;
};

export type McpSecretBox = {
  seal(secrets: McpSecrets, id: string): string;
  /** Throws `SecretError`. */
  open(sealed: string, id: string): McpSecrets;
};

export function mcpSecretBox(secretKey: string, acceptedKeys: readonly string[] = []): McpSecretBox {
  const secrets = new Secrets(secretKey, acceptedKeys);
  return {
    seal: (given, id) => secrets.encrypt(purpose, JSON.stringify(given), id),
    open: (sealed, id) => JSON.parse(secrets.decrypt(purpose, sealed, id)) as McpSecrets,
  };
}
