/** Which events a subscriber sees: those its token may read, narrowed by the topics it asked for. */
import { hasScope, type Principal } from '../auth/principal.ts';

/** The scope that reads the events of a family, by the word before the dot. Families without one are for every principal of the account. */
const readScopes: Record<string, string> = {
  task: 'tasks.read',
  deliverable: 'tasks.read',
  agent: 'agents.read',
  approval: 'agents.read',
  workspace: 'workspaces.read',
  deployment: 'workspaces.read',
  integration: 'integrations.read',
  card: 'commerce.read',
  order: 'commerce.read',
  wallet: 'commerce.read',
  trade: 'trading.read',
  trading: 'trading.read',
  backtest: 'trading.read',
  invoice: 'billing.read',
  plan: 'billing.read',
};

/** The scope that an event type is read with; null where every principal of the account may. */
export function readScope(eventType: string): string | null {
  return readScopes[eventType.slice(0, eventType.indexOf('.'))] ?? null;
}

export type Filter = (event: { type: string; taskId: string | null }) => boolean;

/** Null lets everything through. */
export function filterFor(principal: Principal, topics: readonly string[]): Filter | null {
  const allowed =
    principal.scopes === 'all' ? null : (type: string) => ((scope) => scope === null || hasScope(principal, scope))(readScope(type));
  if (allowed === null && topics.length === 0) return null;
  const wanted = topics.map(topicTest);
  return (event) => (allowed === null || allowed(event.type)) && (wanted.length === 0 || wanted.some((test) => test(event)));
}

/** `task:task_…` or `type:approval.*`; null for what is neither. */
export function isTopic(topic: unknown): topic is string {
  return typeof topic === 'string' && /^(task:[\w-]{1,64}|type:[a-z_]+(\.([a-z_]+|\*))?|type:\*)$/.test(topic);
}

function topicTest(topic: string): Filter {
  const value = topic.slice(topic.indexOf(':') + 1);
  if (topic.startsWith('task:')) return (event) => event.taskId === value;
  // Two names of one event (contract §8); the stream shows it by the first.
  if (value === 'agent.approval_needed') return (event) => event.type === 'approval.required';
  if (value.endsWith('*')) return (event) => event.type.startsWith(value.slice(0, -1));
  return (event) => event.type === value;
}
