/** Computes how many connections one process can hold without running out of file descriptors, which would also stop its database connections. */
import { readFileSync } from 'node:fs';

/** Reserved for the database, other nodes, files and logs. */
const reservedDescriptors = 512;

/** The wanted number, or the process's limit if that is lower. Where the limit cannot be read: the wanted number. */
export function connectionBound(wanted: number): number {
  const openFilesMax = Number(/^Max open files\s+(\d+)/m.exec(limits())?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(wanted, openFilesMax - reservedDescriptors));
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has this file.
    return '';
  }
}
