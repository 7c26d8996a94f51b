/** The processes of a build, as its supervisor sees them: all but itself and the first process of the namespace. */
import { readdirSync, readFileSync } from 'node:fs';

const watchMs = 100;
/** With less memory left the machine is about to stop its processes. */
const machineReserveKib = 128 * 1024;
/** More running processes than `running` in so many looks in a row are no start of a few programs. */
const crowdedLooks = 8;

export type Exceeded = 'memory' | 'machine' | 'processes';

/** Calls `exceeded` at most once. Returns the function that ends the watch. */
export function watchLimits(
  limits: { memoryBytes: number; sharedBytes: number; running: number },
  exceeded: (reason: Exceeded) => void,
): () => void {
  const sharedAtStart = machineMemory().shared;
  let crowded = 0;
  const timer = setInterval(() => {
    const machine = machineMemory();
    const members = memberIds().map(statusOf);
    const used = members.reduce((sum, status) => sum + memoryOf(status), 0);
    crowded = members.filter((status) => stateOf(status) === 'R').length > limits.running ? crowded + 1 : 0;
    const reason = reasonOf(
      used > limits.memoryBytes / 1024 || machine.shared - sharedAtStart > limits.sharedBytes / 1024,
      machine,
      crowded,
    );
    if (reason === null) return;
    clearInterval(timer);
    exceeded(reason);
  }, watchMs);
  return () => clearInterval(timer);
}

function reasonOf(usesTooMuch: boolean, machine: { available: number }, crowded: number): Exceeded | null {
  if (usesTooMuch) return 'memory';
  if (machine.available < machineReserveKib) return 'machine';
  return crowded >= crowdedLooks ? 'processes' : null;
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
  return memberIds().some((pid) => !['Z', 'X', undefined].includes(stateOf(statusOf(pid))));
}

function memberIds(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid);
}

/** Memory that only this process holds, and shared memory it has mapped, in KiB. */
const memoryOf = (status: string) => kib(status, /^RssAnon:\s+(\d+)/m) + kib(status, /^RssShmem:\s+(\d+)/m);
const stateOf = (status: string) => /^State:\s(\S)/m.exec(status)?.[1];

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
