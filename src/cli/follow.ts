/**
 * Follows one task to its end: first its recorded history, then the live stream from that point. A lost stream is resumed; without a
 * stream, the history is polled. Each event is returned once, in order, from either source.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import type { Client } from './client.ts';
import { mayPass } from './failure.ts';
import { openEventSocket } from './socket.ts';
import { endsTask, hasEnded, type Task, type TaskEvent } from './task.ts';

/** How long an unreachable service is waited for. */
const maxOutageMs = 5 * 60_000;
const pageSize = 100;
const firstPauseMs = 250;
const maxPauseMs = 3_000;

export type FollowParts = { client: Client; taskId: string; signal: AbortSignal; notice(line: string): void };

/** Ends after the event that ends the task. Throws `Failure` when the service refuses, or is unreachable for five minutes. */
export async function* followTask({ client, taskId, signal, notice }: FollowParts): AsyncGenerator<TaskEvent, void> {
  const path = `/v1/tasks/${encodeURIComponent(taskId)}`;
  let seq = 0;
  let over = false;
  let socketWanted = true;
  let failures = 0;
  let lostAtMs: number | null = null;
  let outageMs = 0;

  /** True if the event is new; events are repeated where history and stream overlap. */
  function take(event: TaskEvent): boolean {
    if (event.seq <= seq) return false;
    seq = event.seq;
    failures = 0;
    over ||= endsTask(event);
    return true;
  }

  async function* history(): AsyncGenerator<TaskEvent, void> {
    for (let more = true; more; ) {
      const page = await client.request<EventPage>('GET', `${path}/events?after=${seq}&limit=${pageSize}`, { retries: 1 });
      for (const event of page.data) if (take(event)) yield event;
      more = page.has_more && page.data.length > 0;
    }
  }

  async function* live(): AsyncGenerator<TaskEvent, void> {
    const socket = await openEventSocket(client.url, {
      ...{ token: client.token!, resumeFrom: seq, signal },
      topics: [`task:${taskId}`],
      isChosen: ({ data }) => data.task_id === taskId,
    });
    if (socket === 'refused') socketWanted = false;
    if (typeof socket === 'string') return;
    try {
      if (!socket.resumed) yield* history();
      const events = socket.events();
      while (!over) {
        const next = await events.next();
        if (next.done === true) {
          socketWanted &&= next.value !== 'refused';
          return;
        }
        if (take(next.value)) yield next.value;
      }
    } finally {
      outageMs = socket.reconnectAfterMs();
      socket.close();
    }
  }

  for (;;) {
    try {
      // Queried before the history is read: if the task has ended by then, the history contains all its events.
      over ||= hasEnded(await client.request<Task>('GET', path, { retries: 1 }));
      yield* history();
      if (lostAtMs !== null) notice('Connected to the service again');
      lostAtMs = null;
      if (!over && socketWanted) yield* live();
      if (over) return;
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      if (lostAtMs === null) notice('Connection to the service lost; trying again ...');
      lostAtMs ??= performance.now();
      if (performance.now() - lostAtMs > maxOutageMs) throw error;
    }
    signal.throwIfAborted();
    const pauseMs = backoffMs(failures++, firstPauseMs, maxPauseMs);
    await sleep(Math.max(pauseMs, outageMs), undefined, { signal });
    outageMs = 0;
  }
}

type EventPage = { data: TaskEvent[]; has_more: boolean };
