/** Every type of event there is, how a list of names chooses among them, and which mode an event is of. */
import type { Mode } from './mode.ts';

export const eventTypes = [
  ...names('task', 'created waiting planning running paused completed failed cancelled'),
  ...names('agent', 'started thinking action tool_result waiting approval_needed error completed paused resumed guided cancelled'),
  ...names('approval', 'required approved rejected expired'),
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
/** Their data says the mode: readers of one mode get no events of the other. */
const familiesOfOneMode: ReadonlySet<string> = new Set(['card', 'order', 'wallet']);

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

/**
 * The mode of an event; null: it is for readers of both. Those that were recorded before there was a test mode are live.
 *
 * @param event.envelope as JSON: in text that a caller wrote the quotes are escaped, so it is never taken for the field
 */
export function modeOfEvent({ type, envelope }: { type: string; envelope: string }): Mode | null {
  if (!familiesOfOneMode.has(familyOf(type))) return null;
  return /"mode": ?"test"/.test(envelope) ? 'test' : 'live';
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
