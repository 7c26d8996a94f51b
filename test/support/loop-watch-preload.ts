/** Loaded into a service (NODE_OPTIONS) before its own code: at SIGUSR2 prints the longest turn of its event loop since the last time. */
import { LoopWatch } from './loop-watch.ts';

// Only in the service itself, not in the processes that it starts.
if (process.argv[1]?.endsWith('src/main.ts')) {
  const watch = new LoopWatch();
  process.on('SIGUSR2', () => process.stdout.write(`longest turn ${watch.take().toFixed(1)} ms\n`));
}
