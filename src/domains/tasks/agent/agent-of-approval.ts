/** Finds the agent that asked for an approval, where only the approval is named. */
import type { Database } from '../../../storage/database.ts';
import { readableJson } from '../../../storage/readable-json.ts';

const query = {
  name: 'agent_of_approval',
  text: `select agent.id from task join agent on agent.task_id = task.id
    where task.account_id = $1 and task.status not in ('complete', 'failed', 'cancelled')
      and exists (select from json_array_elements(${readableJson('agent.approvals')}) approval where approval->>'id' = $2) limit 1`,
};

/** The agent's id; null: no agent of a running task of the account has asked for it. */
export async function agentOfApproval(database: Database, accountId: string, approvalId: string): Promise<string | null> {
  const { rows } = await database.list(accountId, () => database.read({ ...query, values: [accountId, approvalId] }));
  return rows[0]?.id ?? null;
}
