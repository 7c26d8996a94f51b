/** The tool sources of all domains as one, for agents. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Authority, missingScope } from '../../../authority.ts';
import { elapsedBackoffMs } from '../../../backoff.ts';
import { AppError, errorCodes } from '../../../errors.ts';
import type { AgentType } from './port.ts';
import type { SourcedTool, ToolOwner, ToolSource } from './source.ts';

/** An agent as a user of sourced tools. */
export type ToolUser = { type: AgentType; authority: Authority; owner: ToolOwner };
export type UsableTools = {
  usable: SourcedTool[];
  /** Tools whose scope the task lacks. */
  withheld: { name: string; scope: string }[];
};

const retryForMs = 20_000;

/**
 * The sourced tools of an agent's type. Of equal names the first counts, and one without connection never replaces a tool of the catalogue.
 * While a source is too busy it is asked again for some time; then this rejects with its error.
 */
export async function sourcedToolsOf(
  sources: readonly ToolSource[],
  { type, authority, owner }: ToolUser,
  isInCatalogue: (name: string) => boolean,
  signal: AbortSignal,
): Promise<UsableTools> {
  const found = (await Promise.all(sources.map((source) => withRetries(() => source.toolsOf(owner), signal)))).flat();
  const usable = new Map<string, SourcedTool>();
  const withheld: UsableTools['withheld'] = [];
  for (const tool of found) {
    if (usable.has(tool.name) || (tool.connection === null && isInCatalogue(tool.name))) continue;
    if (tool.agentTypes !== 'all' && !tool.agentTypes.includes(type)) continue;
    const scope = missingScope(authority, tool.need);
    if (scope === null) usable.set(tool.name, tool);
    // A caller without the scope to read integrations must not see which services are connected.
    else if (!isInCatalogue(tool.name) && missingScope(authority, readingIntegrations) === null) withheld.push({ name: tool.name, scope });
  }
  return { usable: [...usable.values()], withheld };
}
const readingIntegrations = { scope: 'integrations.read' } as const;

async function withRetries<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const beganAtMs = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const mayPass = error instanceof AppError && errorCodes[error.code].retry === 'later' && error.code !== 'draining';
      const elapsedMs = performance.now() - beganAtMs;
      if (!mayPass || signal.aborted || elapsedMs > retryForMs) throw error;
      await pause(elapsedBackoffMs(elapsedMs, 100, 2_000), undefined, { signal });
    }
  }
}
