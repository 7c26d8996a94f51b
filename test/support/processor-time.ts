/** Processor time of a process and of the processes that it started: on a busy machine these take longer, but need no more of it. */
import { readdirSync, readFileSync } from 'node:fs';

const ticksOfASecond = 100;

/** In seconds, since the process began; with all processes that it or they have started. Linux only. */
export function processorSeconds(pid: number): number {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  const within = new Set([pid]);
  for (let before = 0; before < within.size; ) {
    before = within.size;
    for (const { pid: one, parent } of all) if (within.has(parent)) within.add(one);
  }
  return all.reduce((sum, one) => sum + (within.has(one.pid) ? one.ticks : 0), 0) / ticksOfASecond;
}

/** null: it has ended. `ticks`: with those of its ended children. */
function statOf(pid: number): { pid: number; parent: number; ticks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in brackets, which may contain spaces and brackets: count from the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, one) => sum + Number(one), 0) };
  } catch {
    return null;
  }
}
