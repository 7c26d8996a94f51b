/** Approvals as an agent and its task both list them. */
import type { Approval } from '../../storage/entities/work.ts';

/** The list with an approval that is new or was decided. */
export function withApproval(approvals: Approval[], changed: Approval): Approval[] {
  const others = approvals.filter((one) => one.id !== changed.id);
  return others.length === approvals.length ? [...approvals, changed] : approvals.map((one) => (one.id === changed.id ? changed : one));
}
