/** The processes of a build, as its supervisor sees them: all but itself and the first process of the namespace. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';

const watchMs = 100;
/** With less memory left, the kernel may soon end processes of the machine. */
const machineReserveKib = 128 * 1024;
/** A start of a few programs is shorter than this many samples in a row. */
const maxSamples = 8;
/** More running processes than this get the lowest priority. */
const fewRunning = 2 * availableParallelism();
const lowestPriority = 19;
/** Of all other processes: what `nice` gives the command. Sessions have nice values too, which count between sessions (sched(7), "autogroup"), and a process can begin one. */
export const buildNiceness = 5;

export type Exceeded = 'memory' | 'machine' | 'processes';

/** Calls `exceeded` at most once. Returns the function that ends the watch. */
export function watchLimits(
  limits: { memoryBytes: number; sharedBytes: number; running: number },
  exceeded: (reason: Exceeded) => void,
): () => void {
  const sharedAtStart = machineMemory().shared;
  let crowded = 0;
  let busy = 0;
  let niceness = buildNiceness;
  const timer = setInterval(() => {
    const machine = machineMemory();
    const ids = memberIds();
    const members = ids.map(statusOf);
    const used = members.reduce((sum, status) => sum + memoryOf(status), 0);
    const running = members.filter((status) => stateOf(status) === 'R').length;
    const threads = members.reduce((sum, status) => sum + threadsOf(status), 0);
    crowded = running > limits.running ? crowded + 1 : 0;
    // The state of each thread is not read, because there may be many: the machine has a count of its running threads.
    busy = running > fewRunning || (threads > limits.running && machineRunning() > limits.running) ? busy + 1 : 0;
    if (busy >= maxSamples) {
      busy = 0;
      niceness = lowestPriority;
      for (const pid of ids) lowerPriority(pid);
    }
    for (const pid of ids) lowerSession(pid, niceness);
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
  return crowded >= maxSamples ? 'processes' : null;
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

const threadsOf = (status: string) => Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);

/** Of the process and its threads; those that they start have the same. */
function lowerPriority(pid: number): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), lowestPriority);
  } catch {
    // It has ended.
  }
}

/** A change that the kernel refuses, because it has just made another, is made at a later sample. */
function lowerSession(pid: number, niceness: number): void {
  try {
    const path = `/proc/${pid}/autogroup`;
    if (Number(/nice (-?\d+)/.exec(readFileSync(path, 'latin1'))?.[1]) < niceness) writeFileSync(path, `${niceness}`);
  } catch {
    // It has ended, or the system has no priority of sessions.
  }
}

/** Threads of the whole machine that run or could run. */
const machineRunning = () => Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);

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
