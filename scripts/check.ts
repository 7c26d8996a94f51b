/** `npm run check`: types, lint and format, and the architecture test, in parallel. Prints failures, and the time of each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const steps = {
  // By default four checkers each check the types that they share: twice the processor time.
  types: ['node_modules/typescript/bin/tsc', '--noEmit', '--singleThreaded'],
  'lint and format': ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  'architecture and regular expressions': [
    '--disable-warning=ExperimentalWarning',
    '--test',
    'test/architecture.test.ts',
    'test/regular-expressions.test.ts',
  ],
};

process.channel?.unref();
const outcomes = await Promise.all(Object.entries(steps).map(([name, command]) => runStep(name, command)));
process.exitCode = outcomes.every(Boolean) ? 0 : 1;

async function runStep(name: string, command: string[]): Promise<boolean> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  process.once('disconnect', () => child.kill());
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = await once(child, 'close');
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  return code === 0;
}
