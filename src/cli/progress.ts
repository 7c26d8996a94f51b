/** The state of a task after the events so far: its plan, its agents by displayed name, its files. */
import { oneLine } from './plain-text.ts';
import type { Task, TaskAgent, TaskEvent } from './task.ts';

export type AgentProgress = { label: string; title: string; status: string; tool: string | null; percent: number };

export type Progress = {
  status: string;
  credits: number;
  /** By agent id, in the order of the plan. */
  agents: Map<string, AgentProgress>;
  /** Names of the deliverables. */
  files: Set<string>;
};

/** More agents than any task has. */
const maxAgents = 100;
const maxFiles = 1_000;

const agentStatuses: Record<string, string> = {
  'agent.started': 'thinking',
  'agent.thinking': 'thinking',
  'agent.action': 'acting',
  'agent.tool_result': 'thinking',
  'agent.waiting': 'waiting',
  'agent.paused': 'paused',
  'agent.resumed': 'thinking',
  'agent.completed': 'complete',
  'agent.error': 'error',
  'agent.cancelled': 'cancelled',
};

export function newProgress(): Progress {
  return { status: 'pending', credits: 0, agents: new Map(), files: new Set() };
}

export function applyEvent(progress: Progress, { type, data }: TaskEvent): void {
  if (type.startsWith('task.'))
    // A waiting task keeps its status.
    progress.status =
      type === 'task.waiting'
        ? progress.status
        : type === 'task.created'
          ? 'pending'
          : type === 'task.completed'
            ? 'complete'
            : type.slice(5);
  if (type === 'task.running' && Array.isArray(data.agents)) for (const one of data.agents) addAgent(progress, one);
  if (type.startsWith('deliverable.') && progress.files.size < maxFiles) progress.files.add(oneLine(String(data.name)));
  if (typeof data.agent_id !== 'string') return;
  const agent = addAgent(progress, { id: data.agent_id, type: String(data.agent_type), title: String(data.title ?? '') });
  const status = agentStatuses[type];
  if (agent === null || status === undefined) return;
  agent.status = status;
  agent.tool = (type === 'agent.action' || type === 'agent.waiting') && typeof data.tool === 'string' ? oneLine(data.tool, 60) : null;
  if (status === 'complete') agent.percent = 100;
}

/** Takes over values that only the task itself shows: the progress of its agents, and its cost. */
export function applyTask(progress: Progress, task: Task): void {
  progress.status = task.status;
  progress.credits = task.cost;
  for (const one of task.agents) {
    const agent = addAgent(progress, one);
    if (agent === null) continue;
    agent.status = one.status;
    agent.tool = one.current_tool === null ? null : oneLine(one.current_tool, 60);
    agent.percent = one.status === 'complete' ? 100 : one.progress;
  }
}

/** `analyst`, or `analyst 2` if there are several of a type. */
export function labelOf(progress: Progress, agentId: unknown): string {
  return (typeof agentId === 'string' ? progress.agents.get(agentId)?.label : undefined) ?? 'agent';
}

function addAgent(progress: Progress, { id, type, title }: Pick<TaskAgent, 'id' | 'type' | 'title'>): AgentProgress | null {
  const { agents } = progress;
  const known = agents.get(id);
  if (known !== undefined) {
    if (known.title === '') known.title = oneLine(title, 100);
    return known;
  }
  if (agents.size >= maxAgents) return null;
  const name = oneLine(type, 30) || 'agent';
  const same = [...agents.values()].filter(({ label }) => label === name || label.startsWith(`${name} `)).length;
  const agent = { label: same === 0 ? name : `${name} ${same + 1}`, title: oneLine(title, 100), status: 'idle', tool: null, percent: 0 };
  agents.set(id, agent);
  return agent;
}
