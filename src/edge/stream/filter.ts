/** Which events a subscriber sees: those its token may read, of its mode, narrowed by the topics it asked for. */
import { chosenName, eventTypes, modeOfEvent } from '../../event-types.ts';
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

/** The event types that the principal may not read. */
export function unreadableTypes(principal: Principal): string[] {
  if (principal.scopes === 'all') return [];
  return eventTypes.filter((type) => {
    const scope = readScope(type);
    return scope !== null && !hasScope(principal, scope);
  });
}

/** The name under which an event is sent; null where it is left out. */
export type Filter = (event: { type: string; taskId: string | null; envelope: string }) => string | null;

export function filterFor(principal: Principal, topics: readonly string[]): Filter {
  const allowed =
    principal.scopes === 'all' ? null : (type: string) => ((scope) => scope === null || hasScope(principal, scope))(readScope(type));
  const names = valuesOf(topics, 'type:');
  const tasks = new Set(valuesOf(topics, 'task:'));
  return (event) => {
    const { type, taskId } = event;
    if (allowed !== null && !allowed(type)) return null;
    const mode = modeOfEvent(event);
    if (mode !== null && mode !== principal.mode) return null;
    const isOfTask = topics.length === 0 || (taskId !== null && tasks.has(taskId));
    return chosenName(names, type) ?? (isOfTask ? type : null);
  };
}

/** `task:task_…` or `type:approval.*`; null for what is neither. */
export function isTopic(topic: unknown): topic is string {
  return typeof topic === 'string' && /^(task:[\w-]{1,64}|type:[a-z_]+(\.([a-z_]+|\*))?|type:\*)$/.test(topic);
}

function valuesOf(topics: readonly string[], kind: string): string[] {
  return topics.filter((topic) => topic.startsWith(kind)).map((topic) => topic.slice(kind.length));
}
