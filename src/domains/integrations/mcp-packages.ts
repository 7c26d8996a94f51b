/**
 * Loads the packages of MCP when they are first needed. Loading them at once would block the event loop for 100 ms, so they are loaded in
 * parts, the largest dependencies first, with other work between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const shared = [() => import('zod/v4/core'), () => import('zod/v4'), () => import('@modelcontextprotocol/core/internal')];
const ofClient = [...shared, () => import('@modelcontextprotocol/client/validators/ajv')];
const ofServer = [...shared, () => import('@modelcontextprotocol/server/validators/ajv')];

export type McpClientPackage = typeof import('@modelcontextprotocol/client');
export type McpServerPackage = typeof import('@modelcontextprotocol/server');

export async function mcpClientPackage(): Promise<McpClientPackage> {
  await loadParts(ofClient);
  return import('@modelcontextprotocol/client');
}

export async function mcpServerPackage(): Promise<McpServerPackage> {
  await loadParts(ofServer);
  return import('@modelcontextprotocol/server');
}

const loaded = new Set<() => Promise<unknown>>();

async function loadParts(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const load of parts) {
    if (loaded.has(load)) continue;
    await load();
    await nextTurn();
    loaded.add(load);
  }
}
