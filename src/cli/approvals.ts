/**
 * Approvals: asked at the terminal, or decided by the options, or left open with a notice how to decide. One question at a time; a decision
 * made elsewhere withdraws the question.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';
import { Failure, mayPass } from './failure.ts';
import { oneLine, plainText } from './plain-text.ts';
import { NoInput, question, type Terminal } from './question.ts';
import type { Task, TaskApproval, TaskEvent } from './task.ts';
import type { View } from './view.ts';

/** Longer arguments are truncated, with a note. */
const maxShownChars = 20_000;
const retryMs = 2_000;
const pollMs = 200;

export type ApprovalParts = {
  client: Client;
  taskId: string;
  decisions: 'ask' | 'approve' | 'reject';
  /** Null without a terminal for questions. */
  terminal: Terminal | null;
  /** The command that follows this task again. */
  attachCommand: string;
  view: View;
  /** Ends every question and wait. */
  signal: AbortSignal;
  onInterrupt(): void;
};

type Decision = { approved: boolean; reason?: string };

export type Approvals = {
  /** Handles every event; asks when the event requests an approval. */
  event(event: TaskEvent): void;
  /** Handles the task as it was read. It shows approvals also to a token that is not sent the events of agents. */
  task(task: Task): void;
};

export function createApprovals(parts: ApprovalParts): Approvals {
  const { client, taskId, decisions, view, signal } = parts;
  const seen = new Set<string>();
  const decidedElsewhere = new Map<string, AbortController>();
  let { terminal } = parts;
  let work: Promise<void> = Promise.resolve();
  let isScopeChecked = false;

  async function settle(id: string, decided: AbortSignal): Promise<void> {
    for (;;) {
      try {
        const task = await client.request<Task>('GET', `/v1/tasks/${encodeURIComponent(taskId)}`);
        const approval = task.approvals.find((one) => one.id === id);
        if (decided.aborted || (approval !== undefined && approval.status !== 'pending')) return;
        if (approval === undefined) {
          // The agent's event comes first; the task receives the approval by a later message.
          await sleep(pollMs, undefined, { signal: AbortSignal.any([signal, decided]) });
          continue;
        }
        const title = task.agents.find((agent) => agent.id === approval.agent_id)?.title ?? 'An agent';
        const decision = await decide(approval, title, decided);
        if (decision !== null) await send(approval, decision);
        return;
      } catch (error) {
        if (signal.aborted || decided.aborted) return;
        if (!mayPass(error)) return view.notice(`Approval ${oneLine(id)}: ${(error as Error).message}`);
        await sleep(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async function decide(approval: TaskApproval, title: string, decided: AbortSignal): Promise<Decision | null> {
    if (decisions !== 'ask') return { approved: decisions === 'approve', ...(decisions === 'reject' && { reason: 'Rejected by --no' }) };
    if (terminal === null) return print(approval);
    view.hold();
    try {
      return await askPerson(terminal, approval, title, AbortSignal.any([signal, decided]));
    } catch (error) {
      if (!(error instanceof NoInput)) throw error;
      terminal = null;
      return print(approval);
    } finally {
      view.release();
      if (decided.aborted) view.notice('This approval was decided elsewhere, or its agent has ended.');
    }
  }

  async function askPerson(to: Terminal, approval: TaskApproval, title: string, until: AbortSignal): Promise<Decision> {
    const asking = { signal: until, onInterrupt: parts.onInterrupt };
    to.output.write(`\n${oneLine(title, 100)} wants to ${oneLine(approval.action, 60)}:\n${described(approval)}\n`);
    for (;;) {
      const answer = (await question(to, 'Approve? [y/n] ', asking)).trim().toLowerCase();
      if (answer === 'y' || answer === 'yes') return { approved: true };
      if (answer === 'n' || answer === 'no') break;
    }
    const reason = (await question(to, 'Reason for the agent (Enter for no reason): ', asking)).trim().slice(0, 2_000);
    return reason === '' ? { approved: false } : { approved: false, reason };
  }

  /** Shows how to decide elsewhere, and lets the task wait. */
  function print(approval: TaskApproval): null {
    view.notice(
      `${oneLine(approval.action, 60)} waits for your approval:\n${described(approval)}\n` +
        `Decide with the command ${parts.attachCommand} in a terminal or with --yes or --no, or by\n` +
        `  curl -X POST ${client.url}${approvePath(approval)} -H "Authorization: Bearer $TROUPE_TOKEN" -H "Content-Type: application/json" -d '{"approved": true}'`,
    );
    return null;
  }

  async function send(approval: TaskApproval, decision: Decision): Promise<void> {
    try {
      await client.request('POST', approvePath(approval), { json: decision });
    } catch (error) {
      if (!(error instanceof Failure) || (error.status !== 409 && error.status !== 403)) throw error;
      view.notice(error.message);
      if (error.status === 403) print(approval);
    }
  }

  function begin(id: string): void {
    seen.add(id);
    const decided = new AbortController();
    decidedElsewhere.set(id, decided);
    // Each piece of work handles its own failures, so the next one always runs.
    work = work.then(() => settle(id, decided.signal)).finally(() => decidedElsewhere.delete(id));
  }

  /** Without the scope the user sees nothing of what agents do, and must know why. */
  async function checkScope(agentId: string): Promise<void> {
    isScopeChecked = true;
    try {
      await client.request('GET', `/v1/agents/${encodeURIComponent(agentId)}`, { retries: 1 });
    } catch (error) {
      if (error instanceof Failure && error.status === 403) view.notice(`The steps of agents are not shown. ${error.message}`);
    }
  }

  return {
    event({ type, data }) {
      const id = data.approval_id;
      if (typeof id !== 'string') return;
      if (type === 'approval.required' && !seen.has(id)) begin(id);
      if (type === 'approval.approved' || type === 'approval.rejected' || type === 'approval.expired') decidedElsewhere.get(id)?.abort();
    },

    task({ approvals }) {
      for (const { id, status, agent_id: agentId } of approvals) {
        if (status !== 'pending') decidedElsewhere.get(id)?.abort();
        else if (!seen.has(id)) {
          begin(id);
          if (!isScopeChecked) void checkScope(agentId);
        }
      }
    },
  };
}

/** What its tool says of it, where it does, and its arguments. */
function described({ summary, arguments: args }: TaskApproval): string {
  return summary == null ? readable(args) : `${plainText(summary)}\n${readable(args)}`;
}

function approvePath({ id, agent_id: agentId }: TaskApproval): string {
  return `/v1/agents/${encodeURIComponent(agentId)}/approve/${encodeURIComponent(id)}`;
}

/** One argument per line; a text of several lines below its name. Omitted parts are mentioned, because the decision covers them too. */
function readable(args: unknown): string {
  const entries = typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.entries(args) : [['', args] as const];
  const text = entries
    .map(([name, value]) => {
      const shownValue = plainText(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')).trimEnd();
      return `  ${oneLine(name, 60)}${name === '' ? '' : ': '}${shownValue.includes('\n') ? `\n${shownValue.replace(/^/gm, '    ')}` : shownValue}`;
    })
    .join('\n');
  if (text.length <= maxShownChars) return text;
  return `${text.slice(0, maxShownChars).toWellFormed()}\n  … and ${text.length - maxShownChars} more characters, not shown`;
}
