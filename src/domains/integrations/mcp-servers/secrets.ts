/** Headers and tokens of MCP servers, encrypted at rest: the ciphertext of one server can be decrypted for this server only. */
import { type SealedBox, sealedBox } from '../../../storage/sealed-box.ts';

export type McpSecrets = {
  headers: Record<string, string>;
  /** The address, with the secrets in its query. Absent in rows of earlier versions: the address of the row. */
  url?: string;
  access: string | null;
  refresh: string | null;
  /** The secret of a client that was registered for this account; null: none. */
  clientSecret: string | null;
};

export type McpSecretBox = SealedBox<McpSecrets>;

export const mcpSecretBox = (secretKey: string, acceptedKeys?: readonly string[]): McpSecretBox =>
  sealedBox('mcp server secrets', secretKey, acceptedKeys);
