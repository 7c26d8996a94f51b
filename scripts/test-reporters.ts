/** Options of node:test that choose its output: on a terminal each test, in CI a dot for each, failures, and notes. */
import { fileURLToPath } from 'node:url';

const notes = fileURLToPath(new URL('notes-reporter.ts', import.meta.url));

export const terminalReporters: readonly string[] = ['--test-reporter=spec'];
export const ciReporters: readonly string[] = ['dot', notes].flatMap((reporter) => [
  `--test-reporter=${reporter}`,
  '--test-reporter-destination=stdout',
]);
