/** The toolbox made from the tools of all domains: which tools an agent type is offered, and how a call is run. */
import { type Authority, missingScope, notAllowed } from '../../../authority.ts';
import { firstRepeated } from '../../../first-repeated.ts';
import { agentInstructions } from './agent-types.ts';
import { checkArguments } from './check-arguments.ts';
import { controlTools } from './control-tools.ts';
import { fitResult } from './fit-result.ts';
import type { AgentType, Tool, Toolbox, ToolContext, ToolOutcome } from './port.ts';
import { runTool } from './run-tool.ts';
import { maxPartBytes, storedResult } from './stored-result.ts';

/** The toolbox, and the tools themselves for code that builds on them. */
export interface Catalogue extends Toolbox {
  /** The tools of this agent type, in a fixed order. */
  toolsFor(type: AgentType): readonly Tool[];
  get(name: string): Tool | undefined;
}

/**
 * Throws if two tools have the same name.
 *
 * @param tools of all domains, in the order in which models are offered them
 */
export function createCatalogue(tools: readonly Tool[]): Catalogue {
  const names = [...tools, ...controlTools].map(({ name }) => name);
  const repeated = firstRepeated(names);
  if (repeated !== undefined) throw new Error(`Two tools are named ${repeated}`);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const toolsFor = (type: AgentType) => tools.filter(({ agentTypes }) => agentTypes === 'all' || agentTypes.includes(type));
  const controls = new Map(controlTools.map((tool) => [tool.name as string, tool]));
  return {
    toolsFor,
    instructionsFor: (type) => agentInstructions[type],
    offersFor(type, authority, sourced = []) {
      const replaced = new Map(sourced.map((tool) => [tool.name, tool]));
      const own = toolsFor(type).map((tool) => replaced.get(tool.name) ?? tool);
      const added = sourced.filter(({ name, hidden = false }) => !hidden && !controls.has(name) && !own.some((tool) => tool.name === name));
      return [...own, ...added, ...controlTools]
        .filter(({ need }) => missingScope(authority, need) === null)
        .map(({ name, description, parameters }) => ({ name, description, parameters }));
    },
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
      const tool = usable(name, context.authority);
      return 'isError' in tool ? tool : runTool(tool, args, context, onDefect);
    },
    async preview(name, args, context, onDefect) {
      const tool = usable(name, context.authority);
      if ('isError' in tool) return tool;
      return previewOf(tool, args, context, onDefect);
    },
    async runSourced(tool, args, context, onDefect) {
      const refused = refusal(tool, context.authority);
      if (refused !== null) return typed(refused, 'forbidden');
      const outcome = await runTool(tool, args, context, onDefect, (result) => storedResult(tool.name, result, context));
      if (!outcome.isError) return outcome;
      const failed = typed(outcome, 'unavailable');
      return { ...failed, result: fitResult(failed.result, maxPartBytes) };
    },
    async previewSourced(tool, args, context, onDefect) {
      const refused = refusal(tool, context.authority);
      if (refused !== null) return typed(refused, 'forbidden');
      return typed(await previewOf(tool, args, context, onDefect), 'unavailable');
    },
  };

  /** The tool, or the outcome of a call of it where this node or the authority does not have it. */
  function usable(name: string, authority: Authority): Tool | ToolOutcome {
    const tool = byName.get(name);
    if (tool === undefined) return { result: { error: `There is no tool "${name}" on this node.` }, isError: true };
    return refusal(tool, authority) ?? tool;
  }
}

/** The outcome of a call that the authority does not allow; null: it does. */
function refusal({ name, need }: Tool, authority: Authority): ToolOutcome | null {
  const scope = missingScope(authority, need);
  return scope === null ? null : { result: { error: notAllowed(name, scope) }, isError: true };
}

/** Failures of sourced tools have a type; `type` is that of a failure here, before or instead of an answer of the service. */
function typed(outcome: ToolOutcome, type: 'forbidden' | 'unavailable'): ToolOutcome {
  const { error } = (outcome.isError ? outcome.result : {}) as { error?: unknown };
  return typeof error === 'string' ? { ...outcome, result: { error: { type, message: error } } } : outcome;
}

function previewOf(tool: Tool, args: unknown, context: ToolContext, onDefect: (error: unknown) => void): Promise<ToolOutcome> {
  const { preview } = tool;
  if (preview === undefined) throw new Error(`${tool.name} has no preview`);
  return runTool({ ...tool, run: (...given) => preview(...given), repeatable: true }, args, context, onDefect);
}
