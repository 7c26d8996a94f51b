/** All tools of this service, and which agent type is offered which. */

import type { MailProvider } from '../mail/port.ts';
import type { ToolOffer } from '../model/port.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { agentProfiles } from './agent-types.ts';
import { createCodeExec } from './code-exec.ts';
import { type ControlTool, controlTools } from './control-tools.ts';
import { createFetchUrl } from './fetch-url.ts';
import { listFiles } from './list-files.ts';
import type { AgentType, Tool } from './port.ts';
import { readFile } from './read-file.ts';
import type { SandboxPool } from './sandbox/pool.ts';
import { createSendEmail } from './send-email.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

export type Catalogue = {
  /** What agents of this type can run, in a fixed order. */
  toolsFor(type: AgentType): readonly Tool[];
  /** The same and the control tools, as a model is offered them. */
  offersFor(type: AgentType): ToolOffer[];
  /** The tool of this name that agents of this type may use; undefined for an invented name and for another type's tool. */
  find(type: AgentType, name: string): Tool | ControlTool | undefined;
  get(name: string): Tool | undefined;
};

export type CatalogueParts = {
  outbound: Outbound;
  /** SEARCH_URL; null when there is none. */
  searchUrl: string | null;
  mail: MailProvider;
  sandbox: SandboxPool;
  profileTable: Tool;
};

export function createCatalogue({ outbound, searchUrl, mail, sandbox, profileTable }: CatalogueParts): Catalogue {
  const tools = [
    listFiles,
    readFile,
    writeFile,
    profileTable,
    createCodeExec(sandbox),
    createWebSearch(outbound, searchUrl),
    createFetchUrl(outbound),
    createSendEmail(mail),
  ];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const toolsFor = (type: AgentType) => tools.filter(({ name }) => agentProfiles[type].tools.includes(name));
  return {
    toolsFor,
    offersFor: (type) =>
      [...toolsFor(type), ...controlTools].map(({ name, description, parameters }) => ({ name, description, parameters })),
    find: (type, name) => controlTools.find((tool) => tool.name === name) ?? toolsFor(type).find((tool) => tool.name === name),
    get: (name) => byName.get(name),
  };
}
