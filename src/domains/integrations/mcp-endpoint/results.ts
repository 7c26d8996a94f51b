/** Results of tool calls, as text: the JSON of an endpoint's answer goes out as it is. */
import type { Called } from './call-tool.ts';

/** `modern`: revision 2026-07-28. `legacy`: those before. */
export type Era = 'modern' | 'legacy';

export type ServerInfo = { name: string; title: string; version: string };

/** How long a client may keep the list of tools: a key's scopes do not change. */
export const listCaching = { ttlMs: 300_000, cacheScope: 'private' } as const;

/** A CallToolResult without the fields that its revision adds. */
export function callResult({ status, json, more }: Called, era: Era): string {
  const content = [`{"type":"text","text":${JSON.stringify(json)}}`, ...more].join(',');
  // Before 2026-07-28 structured content is an object; the SDKs wrap other values like this.
  const structured = era === 'legacy' && !json.startsWith('{') ? `{"result":${json}}` : json;
  return `{"content":[${content}],"structuredContent":${structured}${status >= 400 ? ',"isError":true' : ''}}`;
}
