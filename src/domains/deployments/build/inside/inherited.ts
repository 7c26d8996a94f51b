/** Files and sockets that a process has from the one that started it. */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/** Closes what a program would get that is started from here, except its standard input and outputs: files that the parent of the service left open. */
export function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) if (fd > 2 && isPassedOn(fd)) closeSync(fd);
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The folder's own, which is closed by now.
    return false;
  }
}
