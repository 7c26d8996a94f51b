/** The processes of a build, as its supervisor sees them: all but itself and the first process of the namespace. */
import { readdirSync, readFileSync } from 'node:fs';

const watchMs = 100;
/** With less memory left the machine is about to stop its processes. */
const machineReserveKib = 128 * 1024;

/** Calls `exceeded` at most once. Returns the function that ends the watch. */
export function watchMemory(
  limits: { memoryBytes: number; sharedBytes: number },
  exceeded: (reason: 'memory' | 'machine') => void,
): () => void {
  const sharedAtStart = machineMemory().shared;
  const timer = setInterval(() => {
    const machine = machineMemory();
    const used = memberIds().reduce((sum, pid) => sum + memoryOf(pid), 0);
    const reason =
      used > limits.memoryBytes / 1024 || machine.shared - sharedAtStart > limits.sharedBytes / 1024
        ? 'memory'
        : machine.available < machineReserveKib
          ? 'machine'
          : null;
    if (reason === null) return;
    clearInterval(timer);
    exceeded(reason);
  }, watchMs);
  return () => clearInterval(timer);
}

export function killAll(signal: NodeJS.Signals): void {
  try {
    process.kill(-1, signal);
  } catch {
    // None is left.
  }
}

/** Whether a process is left that can still run. */
export function processesLeft(): boolean {
  return memberIds().some((pid) => !['Z', 'X', undefined].includes(/^State:\s(\S)/m.exec(statusOf(pid))?.[1]));
}

function memberIds(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid);
}

/** Memory that only this process holds, and shared memory it has mapped, in KiB. */
function memoryOf(pid: number): number {
  const status = statusOf(pid);
  return kib(status, /^RssAnon:\s+(\d+)/m) + kib(status, /^RssShmem:\s+(\d+)/m);
}

function machineMemory(): { available: number; shared: number } {
  const text = readFileSync('/proc/meminfo', 'latin1');
  return { available: kib(text, /^MemAvailable:\s+(\d+)/m), shared: kib(text, /^Shmem:\s+(\d+)/m) };
}

const kib = (text: string, line: RegExp) => Number(line.exec(text)?.[1] ?? 0);

/** Empty for a process that has ended. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}
