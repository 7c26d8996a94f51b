/** Which of some processes holds the near end of a TCP connection on this machine. Known on Linux alone, and for one's own processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The two ends of a connection on 127.0.0.1: the dialled port alone tells connections apart that leave from one port to several. */
export type Ends = { dialler: number; dialled: number };

/**
 * The pid of the one that dialled; `nobody` where it has closed its end, or is none of them; null where the table does not have the connection.
 * Reads at once, without turns of the event loop between: the kernel gives its table by pieces of a page, a suite leaves ten thousand closed
 * connections in it, and a dialler waits two seconds.
 */
export function socketOwner(ends: Ends, pids: readonly number[]): number | 'nobody' | null {
  const inode = inodeOf(ends);
  if (inode === null) return null;
  return pids.find((pid) => holds(pid, `socket:[${inode}]`)) ?? 'nobody';
}

/** "0" for a socket that its process has closed. */
function inodeOf({ dialler, dialled }: Ends): string | null {
  const row = new RegExp(`: ${loopback(dialler)} ${loopback(dialled)} .*`).exec(table());
  // After the number of the row: two addresses, state, queues, timer, retransmissions, user, time-out, inode.
  return row?.[0].split(/\s+/)[9] ?? null;
}

function table(): string {
  try {
    return readFileSync('/proc/net/tcp', 'latin1');
  } catch {
    return '';
  }
}

function loopback(port: number): string {
  return `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

function holds(pid: number, socket: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => targetOf(`/proc/${pid}/fd/${descriptor}`) === socket);
  } catch {
    return false;
  }
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor);
  } catch {
    return '';
  }
}
