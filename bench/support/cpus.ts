/** Which processors a service under load and its clients have, so that neither's work is measured as the other's waiting. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** As `taskset` takes them; undefined where there is no `taskset`, or only one processor: then all share all. */
export type Cpus = { service: string | undefined; clients: string | undefined };

/** The last processor for the clients, the others for the service. */
export function splitCpus(): Cpus {
  const last = availableParallelism() - 1;
  if (last === 0 || spawnSync('taskset', ['--version']).status !== 0) return { service: undefined, clients: undefined };
  return { service: `0-${last - 1}`, clients: String(last) };
}
