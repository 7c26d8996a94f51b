/**
 * The priority of processes that a node starts for work that may wait.
 *
 * Linux shares the processor between sessions first where its "autogroup" scheduling is on, as on most desktops and virtual machines: each session has a
 * nice value of its own, and the nice value of a process counts only among the processes of its session (sched(7)). So a process whose priority is
 * to be lower than that of the node and of PostgreSQL, which has another session, needs a session of its own with a higher nice value.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const maxNiceness = 19;
/** The kernel refuses an unprivileged change of a session within 100 ms after another one. */
const againMs = 150;
const maxTries = 20;

/**
 * Lowers the priority of a process, of its session, and of all processes that it starts later.
 *
 * @param pid leads a session of its own, such as a child that was started with `detached: true`; undefined: the child could not be started
 * @param niceness how far below the node's own priority
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.min(maxNiceness, getPriority() + niceness));
  } catch {
    // It has ended already.
  }
  lowerSession(pid, Math.min(maxNiceness, sessionNiceness('self') + niceness));
}

/** The nice value of the session that a process belongs to; 0 where the system has none. */
export function sessionNiceness(pid: number | 'self'): number {
  try {
    return Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function lowerSession(pid: number, niceness: number, triesLeft = maxTries): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, `${niceness}`);
  } catch (error) {
    // Other codes: the process has ended, or the system has no such file or forbids the change.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || triesLeft === 0) return;
    setTimeout(() => lowerSession(pid, niceness, triesLeft - 1), againMs).unref();
  }
}
