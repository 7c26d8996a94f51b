/** All tools of this service, and which agent type is offered which. */

import { missingScope, notAllowed } from '../../../authority.ts';
import type { Compute } from '../../../providers/compute/port.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { SandboxPool } from '../../../providers/sandbox/port.ts';
import { chargeCard, createPurchaseOrder } from '../../commerce/tools/purchases.ts';
import { agentProfiles } from './agent-types.ts';
import { checkArguments } from './check-arguments.ts';
import { createCodeExec } from './code-exec.ts';
import { controlTools } from './control-tools.ts';
import { createFetchUrl } from './fetch-url.ts';
import { listFiles } from './list-files.ts';
import type { AgentType, Tool, Toolbox } from './port.ts';
import { createProfileTable } from './profile-table.ts';
import { readFile } from './read-file.ts';
import { runTool } from './run-tool.ts';
import { sendEmail } from './send-email.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

/** The toolbox, and the tools themselves for those who build on them. */
export interface Catalogue extends Toolbox {
  /** What agents of this type can run, in a fixed order. */
  toolsFor(type: AgentType): readonly Tool[];
  get(name: string): Tool | undefined;
}

export type CatalogueParts = {
  outbound: Outbound;
  /** SEARCH_URL; null when there is none. */
  searchUrl: string | null;
  sandbox: SandboxPool;
  /** Where tables and pages are read. */
  compute: Compute;
};

export function createCatalogue({ outbound, searchUrl, sandbox, compute }: CatalogueParts): Catalogue {
  const tools = [
    listFiles,
    readFile,
    writeFile,
    createProfileTable(compute),
    createCodeExec(sandbox),
    createWebSearch(outbound, searchUrl),
    createFetchUrl(outbound, compute),
    sendEmail,
    createPurchaseOrder,
    chargeCard,
  ];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const toolsFor = (type: AgentType) => tools.filter(({ name }) => agentProfiles[type].tools.includes(name));
  const controls = new Map(controlTools.map((tool) => [tool.name as string, tool]));
  return {
    toolsFor,
    instructionsFor: (type) => agentProfiles[type].instructions,
    offersFor: (type, authority) =>
      [...toolsFor(type), ...controlTools]
        .filter(({ need }) => missingScope(authority, need) === null)
        .map(({ name, description, parameters }) => ({ name, description, parameters })),
    withheldFrom: (type, authority) =>
      toolsFor(type).flatMap(({ name, need }) => {
        const scope = missingScope(authority, need);
        return scope === null ? [] : [{ name, scope }];
      }),
    find(type, name) {
      if (controls.has(name)) return { name, need: null, highConsequence: false };
      return toolsFor(type).find((tool) => tool.name === name);
    },
    get: (name) => byName.get(name),
    isRepeatable: (name) => byName.get(name)?.repeatable ?? true,
    check(name, sent) {
      const tool = controls.get(name) ?? byName.get(name);
      return tool === undefined ? { ok: false, message: `There is no tool "${name}".` } : checkArguments(tool, sent);
    },
    async run(name, args, context, onDefect) {
      const tool = byName.get(name);
      if (tool === undefined) return { result: { error: `There is no tool "${name}" on this node.` }, isError: true };
      const scope = missingScope(context.authority, tool.need);
      if (scope !== null) return { result: { error: notAllowed(name, scope) }, isError: true };
      return runTool(tool, args, context, onDefect);
    },
  };
}
