/** Headers and tokens of MCP servers, encrypted at rest: those of one server can be read for it alone. */
import { type SealedBox, sealedBox } from '../../../storage/sealed-box.ts';

export type McpSecrets = {
  headers: Record<string, string>;
  access: string | null;
  refresh: string | null;
  /** Of a client that was registered for this account; null: it has none. */
  clientSecret: string | null;
};

export type McpSecretBox = SealedBox<McpSecrets>;

export const mcpSecretBox = (secretKey: string, acceptedKeys?: readonly string[]): McpSecretBox =>
  sealedBox('mcp server secrets', secretKey, acceptedKeys);
