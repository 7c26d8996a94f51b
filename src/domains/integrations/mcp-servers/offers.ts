/**
 * Which tools of MCP servers a model is offered. A model chooses badly among many tools, and their descriptions cost tokens in each turn.
 * So above a budget only a search tool is offered at first; the tools that it found for a task are offered from then on.
 */
import type { PinnedTool } from './pins.ts';

export type OfferedTool = { toolName: string; server: string; tool: PinnedTool };
export type FoundOffer = { name: string; description: string; parameters: unknown };

export const toolBudget = { tools: 40, descriptionBytes: 24 * 1024, schemaBytes: 96 * 1024 } as const;
const foundAtOnce = 8;
/** Characters of a description: an account may have thousands of tools. */
const searchedChars = 1_000;

export function isWithinBudget(tools: readonly OfferedTool[]): boolean {
  if (tools.length > toolBudget.tools) return false;
  let [descriptionBytes, schemaBytes] = [0, 0];
  return tools.every(({ tool }) => {
    descriptionBytes += Buffer.byteLength(tool.description);
    schemaBytes += Buffer.byteLength(JSON.stringify(tool.inputSchema));
    return descriptionBytes <= toolBudget.descriptionBytes && schemaBytes <= toolBudget.schemaBytes;
  });
}

/** The newest tools within the budget, in the order of `tools`. */
export function withinBudget(tools: readonly OfferedTool[], newestFirst: readonly string[]): OfferedTool[] {
  const byName = new Map(tools.map((tool) => [tool.toolName, tool]));
  const chosen: OfferedTool[] = [];
  for (const name of newestFirst) {
    const tool = byName.get(name);
    if (tool !== undefined && isWithinBudget([...chosen, tool])) chosen.push(tool);
  }
  return tools.filter((tool) => chosen.includes(tool));
}

/** Tools whose name or description contains words of the query, best match first. */
export function searchTools(tools: readonly OfferedTool[], query: string): FoundOffer[] {
  const words = [...new Set(wordsOf(query))];
  const scored = tools.map((offered) => {
    const name = wordsOf(`${offered.server} ${offered.tool.name}`);
    const description = new Set(wordsOf(offered.tool.description.slice(0, searchedChars)));
    const score = words.reduce(
      (sum, word) => sum + (name.some((part) => part.includes(word)) ? 3 : 0) + (description.has(word) ? 1 : 0),
      0,
    );
    return { offered, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, foundAtOnce)
    .map(({ offered: { toolName: name, tool } }) => ({
      name,
      description: tool.description.slice(0, 1_000),
      parameters: tool.inputSchema,
    }));
}

function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}
