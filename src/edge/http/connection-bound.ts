/** How many connections one process can hold without running out of file descriptors, which would stop its database connections too. */
import { readFileSync } from 'node:fs';

/** Left for the database, other nodes, files and logs. */
const reservedDescriptors = 512;

/** What was asked for, or what the process may open if that is less. Where the system does not tell, what was asked for. */
export function connectionBound(wanted: number): number {
  const openFilesMax = Number(/^Max open files\s+(\d+)/m.exec(limits())?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(wanted, openFilesMax - reservedDescriptors));
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has it.
    return '';
  }
}
