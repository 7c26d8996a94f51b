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
 * Lowers the priority of a process, and of those that it starts later, below the node's.
 *
 * @param pid undefined: the process could not be started
 */
export function lowerProcess(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.min(maxNiceness, getPriority() + niceness));
  } catch {
    // It has ended already.
  }
}

/**
 * Lowers the priority of a process's session below that of the node's session. On a machine with many busy sessions its processes then get hardly
 * any time.
 *
 * @param pid leads the session, such as a child that was started with `detached: true`; undefined: the process could not be started
 */
export function lowerSession(pid: number | undefined, niceness: number): void {
  if (pid !== undefined) setSession(pid, Math.min(maxNiceness, sessionNiceness('self') + niceness));
}

/** The nice value of the session that a process belongs to; 0 where the system has none. */
export function sessionNiceness(pid: number | 'self'): number {
  try {
    return Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function setSession(pid: number, niceness: number, triesLeft = maxTries): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, `${niceness}`);
  } catch (error) {
    // Other codes: the process has ended, or the system has no such file or forbids the change.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || triesLeft === 0) return;
    setTimeout(() => setSession(pid, niceness, triesLeft - 1), againMs).unref();
  }
}
