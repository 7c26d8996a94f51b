/** The folder of one run of the browser, with its profile. It is deleted with the browser; the folders of a killed node are deleted at the next start. */
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'troupe-browser-';

/** @param uid its owner; null: this process's user */
export function makeHome(uid: number | null): string {
  const home = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  if (uid !== null) chownSync(home, uid, uid);
  return home;
}

/** Never throws: a folder that a process still writes to is deleted at the next start. */
export function removeHome(home: string): void {
  try {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The failure is reported above.
  }
}

/** Folders whose node has ended. */
export function removeStaleHomes(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]);
    if (pid > 0 && pid !== process.pid && !isAlive(pid)) removeHome(join(tmpdir(), name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH';
  }
}
