/** The two time limits of work in another process: processor time, and the wall clock. */
import { readFileSync } from 'node:fs';

export type TimeLimits = {
  /** Processor time. */
  timeMs: number;
  wallMs: number;
};

/**
 * Starts to count now. The returned function returns after how many milliseconds to call it again, or which limit is reached: `time` of processor time,
 * `wall` of the wall clock. Where the system does not report processor time, the wall clock alone counts, and its limit is `time` too: it is not
 * known whether the work computed.
 *
 * @param processorMs what the process has used since its start; null: not known now
 */
export function timeLimit({ timeMs, wallMs }: TimeLimits, processorMs: () => number | null): () => number | 'time' | 'wall' {
  const beganAtMs = performance.now();
  let beganMs = processorMs();
  return () => {
    const nowMs = processorMs();
    // The process may have worked for others before: without a first value, only what follows the next one is counted.
    beganMs ??= nowMs;
    const usedMs = nowMs === null || beganMs === null ? null : nowMs - beganMs;
    const leftMs = timeMs - (usedMs ?? 0);
    const wallLeftMs = wallMs - (performance.now() - beganAtMs);
    // The system counts in steps of 10 ms.
    if (leftMs <= 10) return 'time';
    if (wallLeftMs <= 10) return usedMs === null ? 'time' : 'wall';
    return Math.max(20, Math.min(leftMs, wallLeftMs));
  };
}

/** Processor time of a process; null if the system has no /proc, or the process has ended. */
export function processorMsOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name, may contain anything; the fields after it are simple.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}
