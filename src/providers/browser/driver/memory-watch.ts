/**
 * Bounds the memory of pages: while pages are open, a process of the browser that takes more than `maxEachBytes` is killed, and the largest one
 * of pages while these together take more than `maxAllBytes`. Its page crashes; the others continue. A page can fill the browser's own process
 * too: then all pages end, and each is opened once more. Only of a browser on this machine: another one is bounded where it runs.
 */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { processesOf } from './chromium.ts';

const maxEachBytes = 2 ** 30;
const maxAllBytes = 2 * 2 ** 30;
const everyMs = 250;
/** Linux has pages of 4 KiB on the machines that Chromium is built for; larger ones make the limit higher. */
const memoryPageBytes = 4096;

export class MemoryWatch {
  private readonly browser: Browser;
  private readonly kill: (pid: number) => void;
  private users = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(browser: Browser, kill: (pid: number) => void = (pid) => process.kill(pid, 'SIGKILL')) {
    this.browser = browser;
    this.kill = kill;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.users++ === 0) this.next();
    try {
      return await work();
    } finally {
      if (--this.users === 0) clearTimeout(this.timer);
    }
  }

  private next(): void {
    this.timer = setTimeout(() => {
      void this.check().finally(() => {
        if (this.users > 0) this.next();
      });
    }, everyMs);
  }

  private async check(): Promise<void> {
    try {
      const all = await processesOf(this.browser);
      const sizes = await Promise.all(all.map(async ({ id, type }) => ({ id, type, bytes: await residentBytes(id) })));
      for (const { id } of tooLarge(sizes)) this.kill(id);
    } catch {
      // The browser or one of its processes has just ended.
    }
  }
}

/** The processes to end: each one that is too large, and the largest ones of pages while all of them together are too large. */
export function tooLarge<P extends { type: string; bytes: number }>(
  processes: readonly P[],
  maxEach = maxEachBytes,
  maxAll = maxAllBytes,
): P[] {
  const byBytes = processes.toSorted((one, other) => other.bytes - one.bytes);
  let all = byBytes.reduce((sum, { type, bytes }) => sum + (type === 'renderer' ? bytes : 0), 0);
  return byBytes.filter(({ type, bytes }) => {
    const ends = bytes > maxEach || (type === 'renderer' && all > maxAll);
    if (ends && type === 'renderer') all -= bytes;
    return ends;
  });
}

/** Without memory that it shares with other processes, such as the browser's program. */
async function residentBytes(pid: number): Promise<number> {
  const [, resident = 0, shared = 0] = (await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ').map(Number);
  return (resident - shared) * memoryPageBytes;
}
