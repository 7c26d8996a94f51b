/** All tools that agents of this node have: those that each domain brings, counted and traced. */
import type { Runtime } from '../actors/runtime.ts';
import type { Config } from '../config.ts';
import { commerceTools } from '../domains/commerce/tools/commerce-tools.ts';
import { createCatalogue } from '../domains/tasks/tools/catalogue.ts';
import { observedToolbox } from '../domains/tasks/tools/observed.ts';
import type { Toolbox } from '../domains/tasks/tools/port.ts';
import { taskTools } from '../domains/tasks/tools/task-tools.ts';
import type { Tracer } from '../tracing.ts';
import type { Providers } from './providers.ts';

export type ToolboxParts = { config: Pick<Config, 'searchUrl'>; providers: Providers; runtime: Runtime; tracer: Tracer | null };

export function createToolbox({ config, providers, runtime, tracer }: ToolboxParts): Toolbox {
  const { outbound, sandbox, compute, stats } = providers;
  const { searchUrl } = config;
  // Models are offered the tools in this order.
  const tools = [...taskTools({ outbound, searchUrl, sandbox, compute }), ...commerceTools({ actors: runtime.actors })];
  return observedToolbox(createCatalogue(tools), stats.tools, tracer);
}
