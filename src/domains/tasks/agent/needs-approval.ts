/** Which calls a person decides about. */
import type { Tool } from '../tools/port.ts';
import type { AgentRow, PendingCall } from './entity.ts';

/** Below this autonomy a person decides about calls of high consequence. */
export const fullAutonomy = 100;

/**
 * Also with full autonomy, once the agent or its task has read text of others: that text may try to direct it. An account may trust such
 * text. Where the tool itself asks for a decision, no autonomy takes its place. A call without connection does nothing, so it is not asked for before the connection is made.
 *
 * @param tool the catalogue's, for calls that came from no source
 */
export function needsApproval(
  { autonomyLevel, holdsUntrusted }: AgentRow,
  { source, trusted = false, mustAsk = false }: PendingCall,
  tool: Pick<Tool, 'highConsequence'> | undefined,
): boolean {
  if (mustAsk) return true;
  if (source?.connection === null) return false;
  const highConsequence = source === undefined ? tool?.highConsequence === true : source.highConsequence;
  return highConsequence && (autonomyLevel < fullAutonomy || (holdsUntrusted && !trusted));
}
