/** The fields of tasks and events that the commands read from the service's answers. */

export type TaskAgent = {
  id: string;
  type: string;
  title: string;
  status: string;
  current_tool: string | null;
  progress: number;
  result: string | null;
  error: string | null;
};

export type TaskApproval = { id: string; agent_id: string; action: string; arguments: unknown; status: string; summary?: string | null };

export type Task = {
  id: string;
  status: string;
  prompt: string;
  agents: TaskAgent[];
  approvals: TaskApproval[];
  cost: number;
  pause_reason: string | null;
  /** Why it waits for the account's plan, as code and as text; absent in answers of older versions. */
  waiting_for?: string | null;
  waiting_message?: string | null;
  error: string | null;
};

export type TaskEvent = { id: string; seq: number; type: string; created_at: string; data: Record<string, unknown> };

const endings: readonly string[] = ['task.completed', 'task.failed', 'task.cancelled'];

export function hasEnded(task: Task): boolean {
  return task.status === 'complete' || task.status === 'failed' || task.status === 'cancelled';
}

export function endsTask(event: TaskEvent): boolean {
  return endings.includes(event.type);
}

/** Waits for something that this terminal cannot change: the budget is spent, or the plan's limit is reached. */
export function waitsForMoney({ status, pause_reason: reason, waiting_for: waitingFor }: Task): boolean {
  if (status === 'pending') return waitingFor === 'plan_limit';
  return status === 'paused' && (reason === 'budget' || reason === 'plan_limit');
}
