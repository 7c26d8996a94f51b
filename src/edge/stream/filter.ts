/** Which events a subscriber gets: those that its token may read, of its mode, limited to the topics it selected. */
import type { Principal } from '../auth/principal.ts';
import type { EventCatalogue } from './event-catalogue.ts';

/** The type under which an event is sent; null where it is left out. */
export type Filter = (event: { type: string; taskId: string | null; envelope: string }) => string | null;

export function filterFor(catalogue: EventCatalogue, principal: Principal, topics: readonly string[]): Filter {
  const names = valuesOf(topics, 'type:');
  const tasks = new Set(valuesOf(topics, 'task:'));
  return (event) => {
    const { type, taskId } = event;
    if (!catalogue.mayRead(principal, type)) return null;
    const mode = catalogue.modeOf(event);
    if (mode !== null && mode !== principal.mode) return null;
    const isOfTask = topics.length === 0 || (taskId !== null && tasks.has(taskId));
    return catalogue.chosenName(names, type) ?? (isOfTask ? type : null);
  };
}

/** `task:task_…` or `type:approval.*`; null for anything else. */
export function isTopic(topic: unknown): topic is string {
  return typeof topic === 'string' && /^(task:[\w-]{1,64}|type:[a-z_]+(\.([a-z_]+|\*))?|type:\*)$/.test(topic);
}

function valuesOf(topics: readonly string[], kind: string): string[] {
  return topics.filter((topic) => topic.startsWith(kind)).map((topic) => topic.slice(kind.length));
}
