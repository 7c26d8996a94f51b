/** What the machine knows of another process. Linux only: null elsewhere. */
import { readFileSync } from 'node:fs';

const tickMs = 10;

/** Processor time it has used, in user code and in the kernel. */
export function processorMs(pid: number): number | null {
  const stat = read(pid, 'stat');
  if (stat === null) return null;
  // The name, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

export function residentBytes(pid: number): number | null {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(read(pid, 'status') ?? '');
  return kilobytes === null ? null : Number(kilobytes[1]) * 1024;
}

function read(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}
