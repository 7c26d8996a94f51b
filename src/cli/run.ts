/** `troupe run`: creates a task from a prompt and files, follows it to its end, and saves its deliverables. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoTimestamp, machineClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { createApprovals } from './approvals.ts';
import type { Client } from './client.ts';
import { safeFileName, saveDeliverables } from './deliverables.ts';
import { exitCodes, Failure } from './failure.ts';
import { followTask } from './follow.ts';
import { Interrupted, type Interrupts, watchInterrupts } from './interrupts.ts';
import { oneLine, plainText } from './plain-text.ts';
import { applyEvent, applyTask, newProgress } from './progress.ts';
import type { Terminal } from './question.ts';
import { type RunOptions, readRunOptions, runHelp } from './run-options.ts';
import { serviceClient } from './service-client.ts';
import { hasEnded, type Task, waitsForMoney } from './task.ts';
import { uploadFiles } from './uploads.ts';
import type { View } from './view.ts';
import { jsonView } from './view-json.ts';
import { liveView } from './view-live.ts';
import { logView } from './view-log.ts';

/** How often a running task is polled for values that no event reports: the progress of each agent, and its cost. */
const pollEveryMs = 1_000;

/** Where the command was typed. */
export type Caller = { folder: string; dumbTerminal: boolean };

/** The exit code; throws `Failure`. */
export async function run(args: string[], config: Config, caller: Caller): Promise<number> {
  const options = await readRunOptions(args, caller.folder);
  if (options === 'help') {
    process.stdout.write(`${runHelp}\n`);
    return exitCodes.complete;
  }
  const view = viewFor(options, caller);
  const interrupts = watchInterrupts();
  let taskId: string | null = options.attach;
  try {
    const client = await serviceClient(options, config, (line) => view.notice(line), interrupts.signal);
    if (options.attach !== null && options.maxCredits !== null) await changeBudget(client, options.attach, options.maxCredits);
    taskId ??= await createTask(client, options.start!);
    if (options.attach === null) view.notice(`Task ${oneLine(taskId)}`);
    const followed = { client, taskId, options, view, interrupts, attachCommand: attachCommand(taskId, options) };
    const task = await follow(followed);
    const files = await save(followed, caller.folder);
    view.end();
    printEnd(task, files, followed);
    return exitCodeOf(task, interrupts);
  } catch (error) {
    view.end();
    const { reason } = interrupts.signal;
    if (!(reason instanceof Interrupted)) throw taskId === null ? error : withAttachHint(error, attachCommand(taskId, options));
    const left = 'The task continues. Follow it again with';
    process.stderr.write(taskId === null ? 'Ended before the task was created.\n' : `${left}: ${attachCommand(taskId, options)}\n`);
    return reason.exitCode;
  } finally {
    view.end();
  }
}

type Followed = { client: Client; taskId: string; options: RunOptions; view: View; interrupts: Interrupts; attachCommand: string };

/** The task continues after this command, unless the service reports that it does not exist. */
function withAttachHint(error: unknown, command: string): unknown {
  if (!(error instanceof Failure) || error.status === 404) return error;
  return new Failure(error.kind, `${error.message}\nThe task continues; follow it again with: ${command}`, {
    status: error.status ?? undefined,
    cause: error,
  });
}

function viewFor({ output }: RunOptions, { dumbTerminal }: Caller): View {
  if (output === 'json') return jsonView(process.stdout, process.stderr);
  return process.stdout.isTTY && !dumbTerminal ? liveView(process.stdout) : logView(process.stdout, process.stderr);
}

async function createTask(client: Client, { prompt, config, workspaceId, files }: NonNullable<RunOptions['start']>): Promise<string> {
  const nowText = `${isoTimestamp(machineClock.nowMs()).slice(0, 19)}Z ${randomBytes(2).toString('hex')}`;
  const workspace = files.length === 0 ? workspaceId : await uploadFiles(client, { prompt, files, workspaceId, nowText });
  const json = { prompt, config, ...(workspace === null ? {} : { workspace_id: workspace }) };
  const { id } = await client.request<{ id: string }>('POST', '/v1/tasks', { json });
  return id;
}

async function changeBudget(client: Client, taskId: string, maxCredits: number): Promise<void> {
  await client.request('PATCH', `/v1/tasks/${encodeURIComponent(taskId)}`, { json: { config: { max_credits: maxCredits } } });
}

/** The task when it has ended, or waits for something that this terminal cannot provide. */
async function follow({ client, taskId, options, view, interrupts, attachCommand }: Followed): Promise<Task> {
  const { signal } = interrupts;
  const path = `/v1/tasks/${encodeURIComponent(taskId)}`;
  const readTask = () => client.request<Task>('GET', path, { retries: 1 });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const progress = newProgress();
  const onInterrupt = () => interrupts.interrupt();
  const approvals = createApprovals({
    client,
    taskId,
    decisions: options.decisions,
    terminal: personAt(),
    attachCommand,
    view,
    signal: until,
    onInterrupt,
  });
  if (options.cancelOnInterrupt) interrupts.onFirst = () => void cancel(client, path, view);

  /** Polls the task while it is followed; a failed poll is ignored, because following reports the same failure. */
  async function keepPolling(): Promise<void> {
    while (!until.aborted) {
      const task = await readTask().catch(() => null);
      if (task !== null && !over.signal.aborted) {
        applyTask(progress, task);
        approvals.task(task);
        view.refresh(progress);
        if (waitsForMoney(task)) over.abort();
      }
      await sleep(pollEveryMs, undefined, { signal: until }).catch(() => {});
    }
  }

  const polling = keepPolling();
  try {
    for await (const event of followTask({ client, taskId, signal: until, notice: view.notice })) {
      applyEvent(progress, event);
      view.event(event, progress);
      approvals.event(event);
    }
  } catch (error) {
    if (signal.aborted || !over.signal.aborted) throw error;
  } finally {
    over.abort();
    await polling;
  }
  return client.request<Task>('GET', path);
}

/** Whether a user can see the question and answer. */
function personAt(): Terminal | null {
  if (!process.stdin.isTTY) return null;
  const output = [process.stdout, process.stderr].find(({ isTTY }) => isTTY);
  return output === undefined ? null : { input: process.stdin, output };
}

async function cancel(client: Client, path: string, view: View): Promise<void> {
  view.notice('Cancelling the task ... (press Ctrl-C again to end this command without waiting)');
  try {
    await client.request('POST', `${path}/cancel`, { json: {} });
  } catch (error) {
    view.notice(`The task was not cancelled: ${(error as Error).message}`);
  }
}

function save({ client, taskId, options, interrupts }: Followed, folder: string): Promise<string[]> {
  const outDir = options.outDir ?? resolve(folder, 'troupe-out', safeFileName(taskId));
  return saveDeliverables(client, taskId, outDir, interrupts.signal);
}

function printEnd(task: Task, files: string[], { options, attachCommand }: Followed): void {
  if (options.output === 'json') {
    const { id: task_id, status, error, pause_reason } = task;
    process.stdout.write(`${JSON.stringify({ type: 'result', task_id, status, error, pause_reason, files })}\n`);
    return;
  }
  const finished = task.agents.filter(({ result }) => result !== null);
  for (const { title, result } of finished) {
    process.stdout.write(`\n${finished.length > 1 ? `${oneLine(title)}:\n` : ''}${plainText(result!)}\n`);
  }
  if (files.length > 0) process.stdout.write(`\nSaved:\n${files.map((path) => `  ${path}\n`).join('')}`);
  if (task.status === 'failed') process.stderr.write(`The task failed: ${oneLine(task.error ?? 'no reason given', 4_000)}\n`);
  if (task.status === 'cancelled') process.stderr.write('The task was cancelled.\n');
  if (!hasEnded(task)) {
    const lack =
      task.pause_reason === 'budget'
        ? `The task has used its credits (${task.cost}) and is paused. Continue it with a larger budget: ${attachCommand} --max-credits N`
        : `The task is waiting. ${oneLine(task.waiting_message ?? 'A limit of the plan is reached.', 300)} When it can continue, follow it again with: ${attachCommand}`;
    process.stderr.write(`${lack}\n`);
  }
}

function attachCommand(taskId: string, { url }: RunOptions): string {
  return `npm run troupe -- run --attach ${oneLine(taskId)}${url === null ? '' : ` --url ${url}`}`;
}

function exitCodeOf({ status }: Task, { signal }: Interrupts): number {
  if (signal.reason instanceof Interrupted) return signal.reason.exitCode;
  if (status === 'complete') return exitCodes.complete;
  if (status === 'cancelled') return exitCodes.cancelled;
  return status === 'failed' ? exitCodes.failed : exitCodes.paused;
}
