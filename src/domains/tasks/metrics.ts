/** Metrics of the tool calls of agents. */
import type { Metrics } from '../../metrics.ts';
import type { ToolStats } from './tools/observed.ts';

export function addToolMetrics(metrics: Metrics, tools: ToolStats): void {
  metrics.counter('troupe_tool_calls_total', 'Tool calls that ended, by outcome', () => tools.calls.read());
  metrics.distribution('troupe_tool_call_duration_seconds', 'Duration of tool calls', () => tools.durationS);
}
