/** What the machine knows of another process. Linux only: null elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';

const tickMs = 10;

/** Processor time it has used, in user code and in the kernel. */
export function processorMs(pid: number): number | null {
  const fields = statFields(pid);
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Of a process and all that descend from it, with those of them that have ended. */
export function treeProcessorMs(root: number): number | null {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const pid of processes()) {
    const fields = statFields(pid);
    if (fields === null) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    // User and system time, of itself and of its ended children.
    ticks.set(
      pid,
      fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    );
  }
  if (!ticks.has(root)) return null;
  const sumOf = (pid: number): number => (children.get(pid) ?? []).reduce((sum, child) => sum + sumOf(child), ticks.get(pid) ?? 0);
  return sumOf(root) * tickMs;
}

export function residentBytes(pid: number): number | null {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(read(pid, 'status') ?? '');
  return kilobytes === null ? null : Number(kilobytes[1]) * 1024;
}

/** The fields of its `stat` from the state on; the name before them, in parentheses, may hold spaces. */
function statFields(pid: number): string[] | null {
  const stat = read(pid, 'stat');
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function read(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}
