/** Decides which calls need the approval of a person. */
import type { Tool } from '../tools/port.ts';
import type { AgentRow, PendingCall } from './entity.ts';

/** Below this autonomy a person decides about calls of high consequence. */
export const fullAutonomy = 100;

/**
 * Approval is needed also with full autonomy once the agent or its task has read text of others, because such text may contain instructions. An account
 * may trust such text. If the tool itself requires a decision, no autonomy replaces it. A call without connection does nothing, so approval is requested
 * only after the connection is made.
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
