/** Runs the command in a separate process, with or without a terminal. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { nodeEnv } from '../support/node-env.ts';

export type Command = {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves as soon as the output so far, of both streams, holds it; rejects when the command ends without. */
  says(what: string | RegExp): Promise<void>;
  type(text: string): void;
  readonly exit: Promise<number | null>;
};

/** `input`: the content of standard input, without a terminal. `outputFile`: standard output goes there. */
export type Where = { url?: string; dataDir: string; folder: string; env?: Record<string, string>; input?: string; outputFile?: string };

const node = [process.execPath, '--disable-warning=ExperimentalWarning', resolve('src/cli/main.ts')];

/** Without a terminal: standard input is empty, or has the given content. */
export function troupe(args: string[], where: Where): Command {
  const command = watch([...node, ...args], where, where.input === undefined ? 'ignore' : 'pipe');
  if (where.input !== undefined) command.child.stdin!.end(where.input);
  return command;
}

/** At a pseudo-terminal of util-linux's `script`; standard error is on it too. */
export function troupeAtTerminal(args: string[], where: Where): Command {
  const line = [...node, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return watch(
    ['script', '-qfec', `stty cols 100 rows 30; exec ${line}`, '/dev/null'],
    { ...where, env: { TERM: 'xterm', SHELL: '/bin/sh', ...where.env } },
    'pipe',
  );
}

/** Why there is no terminal here; false if there is one. */
export const noTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0 ? false : "util-linux's script is not installed";

function watch([command, ...args]: string[], { url, dataDir, folder, env, outputFile }: Where, stdin: 'ignore' | 'pipe'): Command {
  const output = outputFile === undefined ? ('pipe' as const) : openSync(outputFile, 'w');
  const child = spawn(command!, args, {
    cwd: folder,
    env: { ...nodeEnv, DATA_DIR: dataDir, ...(url === undefined ? {} : { PUBLIC_URL: url }), ...env },
    stdio: [stdin, output, 'pipe'],
  });
  if (typeof output === 'number') closeSync(output);
  const said = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const exit = new Promise<number | null>((done) => child.once('close', done));
  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    says(what) {
      return new Promise((resolve, reject) => {
        const check = () => {
          const all = said.stdout + said.stderr;
          if (typeof what === 'string' ? !all.includes(what) : !what.test(all)) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
        void exit.then((code) => reject(new Error(`ended with ${code} and never said ${what}:\n${said.stdout}${said.stderr}`)));
      });
    },
    type: (text) => void child.stdin!.write(text),
    exit,
  };
}
