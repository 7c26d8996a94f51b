/** The text of an event on one line. */
import { fileSize, oneLine } from './plain-text.ts';
import { labelOf, type Progress } from './progress.ts';
import type { TaskEvent } from './task.ts';

export type EventLine = {
  /** The agent of the event, or the task. */
  source: string;
  text: string;
  tone: 'plain' | 'good' | 'bad' | 'ask' | 'faint';
  /** Steps of agents: many, and transient. */
  step: boolean;
};

type Describe = (data: Record<string, unknown>) => Omit<EventLine, 'source' | 'step'> & { step?: boolean };

const plain = (text: string) => ({ text, tone: 'plain' as const });
const step = (text: string) => ({ text, tone: 'faint' as const, step: true });
const good = (text: string) => ({ text, tone: 'good' as const });
const bad = (text: string) => ({ text, tone: 'bad' as const });
const ask = (text: string) => ({ text, tone: 'ask' as const });

const descriptions: Record<string, Describe> = {
  'task.created': () => plain('created'),
  'task.waiting': ({ message }) => ask(`waiting: ${oneLine(String(message), 300)}`),
  'task.planning': () => plain('planning'),
  'task.running': ({ agents }) => plain(Array.isArray(agents) ? `plan: ${planOf(agents)}` : 'goes on'),
  'task.paused': ({ pause_reason: reason }) => ask(`paused (${oneLine(String(reason))})`),
  'task.completed': ({ deliverables_count: count }) => good(`complete, ${count === 1 ? '1 file' : `${count} files`}`),
  'task.failed': ({ error }) => bad(`failed: ${shortText(error)}`),
  'task.cancelled': () => bad('cancelled'),
  'agent.started': ({ title }) => plain(`starts: ${shortText(title)}`),
  'agent.thinking': ({ turn, text }) => step(text === '' || text === undefined ? `step ${turn}` : `step ${turn}: ${shortText(text)}`),
  'agent.action': ({ tool, arguments: args }) => step(`${shortText(tool)} ${compact(args)}`),
  'agent.tool_result': ({ tool, is_error: isError, result }) =>
    isError ? bad(`${shortText(tool)} failed: ${compact(result)}`) : step(`${shortText(tool)} done`),
  'agent.waiting': ({ tool }) => step(`waits to call ${shortText(tool)}`),
  'agent.completed': () => good('finished'),
  'agent.error': ({ error }) => bad(`failed: ${shortText(error)}`),
  'agent.paused': () => ask('paused'),
  'agent.resumed': () => plain('continues'),
  'agent.guided': ({ message }) => plain(`guidance: ${shortText(message)}`),
  'agent.cancelled': () => bad('cancelled'),
  'approval.required': ({ action, arguments: args }) => ask(`needs approval: ${shortText(action)} ${compact(args)}`),
  'approval.approved': ({ action }) => good(`approved: ${shortText(action)}`),
  'approval.rejected': ({ action, reason }) => bad(`rejected: ${shortText(action)}${reason ? ` (${shortText(reason)})` : ''}`),
  'approval.expired': ({ action }) => bad(`no decision in time: ${shortText(action)}`),
  'deliverable.created': ({ name, size_bytes: bytes }) => good(`delivered ${shortText(name)} (${fileSize(Number(bytes))})`),
  'deliverable.updated': ({ name, size_bytes: bytes }) => good(`delivered ${shortText(name)} again (${fileSize(Number(bytes))})`),
  'deployment.building': ({ deployment }) => plain(`deployment at ${shortText(fieldOf(deployment, 'target'))} started`),
  'deployment.deploying': ({ deployment }) => step(`publishes at ${shortText(fieldOf(deployment, 'target'))}`),
  'deployment.live': ({ deployment }) => good(`published: ${shortText(fieldOf(deployment, 'url'))}`),
  'deployment.failed': ({ deployment }) => {
    const error = fieldOf(deployment, 'error');
    return bad(`deployment failed (${shortText(fieldOf(error, 'code'))}): ${shortText(fieldOf(error, 'message'))}`);
  },
};

/** A type without a text is shown by its name. */
export function eventLine({ type, data }: TaskEvent, progress: Progress): EventLine {
  const describe = Object.hasOwn(descriptions, type) ? descriptions[type]! : () => step(oneLine(type, 60));
  const source = typeof data.agent_id === 'string' ? labelOf(progress, data.agent_id) : 'task';
  return { step: false, ...describe(data), source };
}

function planOf(agents: unknown[]): string {
  return agents
    .map((one) => ({ type: '', title: '', ...(one as object) }))
    .map(({ type, title }) => `${oneLine(type, 30)} "${oneLine(title, 80)}"`)
    .join(', ');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function shortText(value: unknown): string {
  return oneLine(String(value ?? ''), 160);
}

/** Arguments and results with truncated values: the name of a file matters here, not its content. */
function compact(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return oneLine(JSON.stringify(value) ?? '', 80);
  const parts = Object.entries(value).map(([name, part]) => {
    const text = typeof part === 'string' ? part : (JSON.stringify(part) ?? '');
    return `${oneLine(name, 40)}: ${oneLine(text, 60)}`;
  });
  return oneLine(parts.join(', '), 160);
}
