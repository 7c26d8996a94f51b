/** Approvals as an agent and its task both list them. */
import type { Approval } from './entity.ts';

/** The list with an approval that is new or was decided. */
export function withApproval(approvals: Approval[], changed: Approval): Approval[] {
  const others = approvals.filter((one) => one.id !== changed.id);
  return others.length === approvals.length ? [...approvals, changed] : approvals.map((one) => (one.id === changed.id ? changed : one));
}

/** The list when an agent has ended: undecided ones are expired. */
export function withoutPending(approvals: Approval[], agentId: string): Approval[] {
  const expired = ({ status, agentId: of }: Approval) => status === 'pending' && of === agentId;
  return approvals.some(expired) ? approvals.map((one) => (expired(one) ? { ...one, status: 'expired' as const } : one)) : approvals;
}
