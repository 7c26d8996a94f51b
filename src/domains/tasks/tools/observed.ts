/** Wraps a toolbox; counts and traces its calls. */
import { CountBy, Distribution } from '../../../counts.ts';
import type { Tracer } from '../../../tracing.ts';
import type { Toolbox, ToolContext, ToolOutcome } from './port.ts';

export class ToolStats {
  readonly calls = new CountBy(['tool', 'outcome']);
  readonly durationS = new Distribution([0.001, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160]);
}

/** @param tracer null: nothing is traced */
export function observedToolbox(toolbox: Toolbox, stats: ToolStats, tracer: Tracer | null): Toolbox {
  const observed = async (name: string, label: string, context: ToolContext, call: () => Promise<ToolOutcome>): Promise<ToolOutcome> => {
    const attributes = { 'troupe.tool': name, 'troupe.task_id': context.taskId, 'troupe.agent_id': context.agentId };
    const span = tracer?.startSpan(`tool ${label}`, tracer.current(), attributes);
    const begunAtMs = performance.now();
    try {
      const outcome = await call();
      stats.calls.add([label, outcome.isError ? 'failed' : 'done']);
      span?.end(outcome.isError ? 'failed' : null);
      return outcome;
    } catch (error) {
      stats.calls.add([label, 'aborted']);
      span?.end(error);
      throw error;
    } finally {
      stats.durationS.record((performance.now() - begunAtMs) / 1_000);
    }
  };
  return {
    instructionsFor: (type) => toolbox.instructionsFor(type),
    offersFor: (type, authority, sourced) => toolbox.offersFor(type, authority, sourced),
    withheldFrom: (type, authority) => toolbox.withheldFrom(type, authority),
    find: (type, name) => toolbox.find(type, name),
    isRepeatable: (name) => toolbox.isRepeatable(name),
    check: (name, sent) => toolbox.check(name, sent),
    preview: (name, args, context, onDefect) => toolbox.preview(name, args, context, onDefect),
    run: (name, args, context, onDefect) => observed(name, name, context, () => toolbox.run(name, args, context, onDefect)),
    previewSourced: (tool, args, context, onDefect) => toolbox.previewSourced(tool, args, context, onDefect),
    runSourced: (tool, args, context, onDefect) =>
      observed(tool.name, tool.measuredAs ?? tool.name, context, () => toolbox.runSourced(tool, args, context, onDefect)),
  };
}
