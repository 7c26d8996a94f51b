/** Every type of event there is, and how a list of names chooses among them. */

export const eventTypes = [
  ...names('task', 'created planning running paused completed failed cancelled'),
  ...names('agent', 'started thinking action tool_result waiting approval_needed error completed paused resumed guided cancelled'),
  ...names('approval', 'required approved rejected'),
  ...names('deliverable', 'created updated'),
  ...names('workspace', 'file_created file_deleted'),
  ...names('integration', 'connected error disconnected'),
  ...names('deployment', 'building deploying live failed'),
  ...names('card', 'created authorized declined reversed frozen cancelled'),
  ...names('order', 'created approved rejected complete'),
  ...names('wallet', 'deposited'),
  ...names('trade', 'submitted filled cancelled rejected expired'),
  ...names('trading', 'blocked'),
  ...names('backtest', 'completed'),
  ...names('invoice', 'created'),
  ...names('plan', 'changed'),
  ...names('webhook', 'disabled'),
] as const;

/** Two names of one event (contract §8): it is committed as the first; who asked for the second gets it under that name. */
export const approvalRequired = 'approval.required';
export const approvalNeeded = 'agent.approval_needed';

const families = new Set(eventTypes.map(familyOf));

/** An event type, all of a family (`task.*`), or `*`. */
export function isEventName(name: string): boolean {
  if (name === '*') return true;
  if (name.endsWith('.*')) return families.has(name.slice(0, -2));
  return (eventTypes as readonly string[]).includes(name);
}

/** The event types that a name stands for. */
export function typesNamed(name: string): string[] {
  return eventTypes.filter((type) => nameMatches(name, type));
}

/** The name under which whoever asked for `wanted` gets an event of this type; null where they did not ask for it. */
export function chosenName(wanted: readonly string[], type: string): string | null {
  if (wanted.some((name) => nameMatches(name, type))) return type;
  return type === approvalRequired && wanted.some((name) => nameMatches(name, approvalNeeded)) ? approvalNeeded : null;
}

function nameMatches(name: string, type: string): boolean {
  return name === '*' || name === type || (name.endsWith('.*') && type.startsWith(name.slice(0, -1)));
}

function familyOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

function names(family: string, words: string): string[] {
  return words.split(' ').map((word) => `${family}.${word}`);
}
