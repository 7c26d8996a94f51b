/** Runs a command of an operator in a separate process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeEnv } from '../support/node-env.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How it ended, and what it said. */
export function commandOutcome(args: readonly string[], databaseUrl: string): Promise<{ code: number; output: string }> {
  const all = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', ...args];
  const options = { cwd: root, env: { ...nodeEnv, DATABASE_URL: databaseUrl }, timeout: 120_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, all, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, output: `${out}${err}`.trim() });
    });
  });
}
