/** A process with its own sandbox, for tests that kill it: prints the ids of its children when they run. */
import { noLog } from '../../../src/log.ts';
import { createSandboxPool } from '../../../src/providers/sandbox/pool.ts';

const pool = createSandboxPool({ directory: process.argv[2]!, log: noLog, timeMs: 10_000 });
const { promise: busy, resolve } = Promise.withResolvers<void>();
const code = 'listFiles(); for (;;) {}';
const files = async () => {
  resolve();
  return [];
};
pool.run('acct', code, files, new AbortController().signal).catch(() => {});
await busy;
// The busy child, and the spare that waits for the next run.
while (pool.pids().length < 2) await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify(pool.pids()));
