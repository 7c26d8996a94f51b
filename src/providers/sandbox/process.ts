/**
 * One sandbox child: a Node process that may only compute. Three barriers, each sufficient if the one before fails: WebAssembly without
 * imports, Node's permission model (it reads only its own program), limits of the operating system set by `ulimit` in the shell that
 * becomes the child. It is killed from outside; nothing inside must stop by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChildLine, maxLineChars, type ParentLine, sandboxLimits } from './protocol.ts';

const folder = fileURLToPath(new URL('./', import.meta.url));

/** More links lead to a package only by mistake. */
const maxLinks = 40;
/** No character has more than three bytes in UTF-8. */
const maxLineBytes = 3 * maxLineChars;

export type SandboxProgram = {
  /** Beside this file. */
  file: 'child.ts' | 'batch-child.ts';
  memoryBytes: number;
  cpuS: number;
};
const runsOnce: SandboxProgram = {
  file: 'child.ts',
  memoryBytes: sandboxLimits.memoryBytes,
  cpuS: Math.ceil(sandboxLimits.timeMs / 1000) + 3,
};

/**
 * Data memory of the whole process in KiB: Node itself needs about 150 MB. (`ulimit -v` would be simpler, but WebAssembly reserves address
 * space it never uses.) A limit that cannot be set is already lower, or not supported by this system.
 */
const shellProgram = ({ memoryBytes, cpuS }: SandboxProgram): string =>
  [`-d ${(300 * 2 ** 20 + memoryBytes) / 1024}`, `-t ${cpuS}`, '-f 0', '-c 0', '-n 48']
    .map((limit) => `ulimit ${limit} 2>/dev/null || :`)
    // Local time is the same on every machine.
    .concat('exec /usr/bin/env -i TZ=UTC "$@"')
    .join('\n');

export type SandboxProcess<From = ChildLine, To = ParentLine> = {
  readonly pid: number;
  /** Settles when the child's engine is ready; rejects with the reason if it could not start. */
  readonly ready: Promise<void>;
  /** The next message of the child; null when it has ended. */
  next(): Promise<Exclude<From, { op: 'ready' }> | null>;
  /** Fills this with what follows the last message as it is; false: the child ended before. */
  bytes(into: Uint8Array): Promise<boolean>;
  /** @param bytes follow the line as they are */
  send(line: To, bytes?: Uint8Array): void;
  /** Kills it at once; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
};

/** @param directory an empty folder, the child's working directory */
export function startSandboxProcess<From extends { op: string } = ChildLine, To = ParentLine>(
  directory: string,
  program: SandboxProgram = runsOnce,
): SandboxProcess<From, To> {
  const child = spawn(
    '/bin/sh',
    ['-c', shellProgram(program), 'sandbox', process.execPath, ...nodeArguments(), join(folder, program.file)],
    {
      cwd: directory,
      env: {},
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // The exit of a child that dies during a write is handled, so the broken pipe can be ignored.
  child.stdin.on('error', () => {});
  const stderrTail = tailOf(child);
  const output = readOutput<From>(child);

  const ready = (async () => {
    const first = await output.next();
    if (first?.op === 'ready') return;
    child.kill('SIGKILL');
    throw new Error(`the sandbox did not start: ${stderrTail() || 'no reason given'}`);
  })();
  // The run that uses the process awaits it; the failure of an unused spare must not end the node.
  ready.catch(() => {});

  return {
    pid: child.pid ?? 0,
    ready,
    gone,
    async next() {
      const line = await output.next();
      return line === null || line.op === 'ready' ? null : (line as Exclude<From, { op: 'ready' }>);
    },
    bytes: (into) => output.bytes(into),
    send: (line, bytes) => {
      child.stdin.write(`${JSON.stringify(line)}\n`);
      if (bytes !== undefined) child.stdin.write(bytes);
    },
    kill: () => {
      child.kill('SIGKILL');
      return gone;
    },
  };
}

let knownArguments: string[] | undefined;

/** Node's permission model with exactly the program's files. */
function nodeArguments(): string[] {
  if (knownArguments) return knownArguments;
  const require = createRequire(import.meta.url);
  const packageFolders = (name: string): string[] => {
    const found = require.resolve
      .paths(name)!
      .map((modules) => join(modules, name))
      .find((path) => existsSync(path));
    if (found === undefined) throw new Error(`The package ${name} is not installed`);
    return waysTo(found);
  };
  const packages = ['@jitl/quickjs-wasmfile-release-sync', 'quickjs-emscripten-core', '@jitl/quickjs-ffi-types'];
  const readable = [`${folder}*`, ...packages.flatMap(packageFolders)];
  knownArguments = [
    '--permission',
    '--allow-worker',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--max-old-space-size=160',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ];
  return knownArguments;
}

/**
 * What Node reads to find the files of a package folder: where `node_modules` or the folder is a symbolic link, as package managers make them,
 * the names up to the link, each link, and the files at their real path.
 */
function waysTo(packageFolder: string): string[] {
  const links: string[] = [];
  const folders = [packageFolder];
  for (let path = packageFolder; links.length < maxLinks; ) {
    const parts = path.split(sep);
    const at = parts.findIndex((_, i) => i > 0 && lstatSync(parts.slice(0, i + 1).join(sep)).isSymbolicLink());
    if (at < 0) break;
    const link = parts.slice(0, at + 1).join(sep);
    links.push(link);
    path = join(resolve(dirname(link), readlinkSync(link)), ...parts.slice(at + 1));
    folders.push(path);
  }
  // Node opens a link to a folder with all that is behind it: at most the installed packages, which are public code.
  return [...links, ...folders.flatMap((path) => [path, join(path, '*')])];
}

/**
 * The child's stdout: complete lines, one at a time, and bytes that follow a line as they are. A line that is too long or invalid ends the child. One
 * question at a time.
 */
function readOutput<From>(child: ChildProcess) {
  const chunks = child.stdout![Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<Buffer | null> => {
    const { value, done } = await chunks.next();
    return done ? null : value;
  };

  async function line(): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (let chunk: Buffer | null = rest; chunk !== null; chunk = await more()) {
      const end = chunk.indexOf(10);
      parts.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0) {
        rest = chunk.subarray(end + 1);
        return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      }
      bytes += chunk.length;
      if (bytes > maxLineBytes) throw new Error('line too long');
    }
    return null;
  }

  return {
    async next(): Promise<From | null> {
      try {
        const found = await line();
        return found === null ? null : (JSON.parse(found.toString('utf8')) as From);
      } catch {
        child.kill('SIGKILL');
        return null;
      }
    },
    /** Whether there were as many. */
    async bytes(into: Uint8Array): Promise<boolean> {
      for (let at = 0; ; ) {
        const taken = Math.min(rest.length, into.length - at);
        into.set(rest.subarray(0, taken), at);
        rest = rest.subarray(taken);
        at += taken;
        if (at === into.length) return true;
        const chunk = await more();
        if (chunk === null) return false;
        rest = chunk;
      }
    },
  };
}

/** The last error output of the child, for the log. */
function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-1000);
  });
  return () => tail.trim();
}
