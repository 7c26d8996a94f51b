/**
 * The first program within the namespaces of a build: it writes the copy of the workspace, runs the command with fewer rights than its own, and sends the
 * output. It belongs to the same build as the command: it has no secret, and the node validates all its messages.
 *
 * It ends with its stdin, and with it ends the first process of the process namespace, which ends every process in it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, constants, createReadStream, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findFiles, outputFolder, Refused } from './collect.ts';
import { type BuildRun, FrameReader, type FromSupervisor, frame, type ToSupervisor } from './frames.ts';
import { closeInherited } from './inherited.ts';
import { type Exceeded, killAll, processesLeft, watchLimits } from './processes.ts';

const [home, uid] = [process.argv[2]!, Number(process.argv[3])];
const input = new FrameReader(process.stdin);
const tailBytes = 8 * 1024;
const aliveMs = 1_000;

closeInherited();
try {
  await send({ op: 'ready' });
  const run = await readFiles();
  const ended = await runCommand(run);
  await send(ended);
  if (ended.code === 0 && ended.why === null) await sendFiles(run);
  await send({ op: 'done' });
} catch (error) {
  if (error instanceof Refused) await send({ op: 'refused', code: error.code, message: error.message });
  else console.error(error);
}
process.exit(0);

/** Resolves with the line after the last file. */
async function readFiles(): Promise<BuildRun> {
  for (const folders = new Set([home]); ; ) {
    const message = await nextMessage();
    if (message.op === 'run') return message.run;
    if (message.op !== 'file') process.exit(0);
    try {
      const path = join(home, message.path);
      makeFolder(dirname(path), folders);
      const file = await open(path, 'wx', 0o644);
      await write(file, input.bytes(message.sizeBytes));
      chownSync(path, uid, uid);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      const full = code === 'ENOSPC' ? 'The files of the workspace do not fit into the space of a build' : `${message.path}: ${code}`;
      throw new Refused('build_failed', full);
    }
  }
}

async function write(file: FileHandle, content: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const bytes of content) await file.writeFile(bytes);
  } finally {
    await file.close();
  }
}

function makeFolder(path: string, made: Set<string>): void {
  if (made.has(path)) return;
  makeFolder(dirname(path), made);
  mkdirSync(path);
  chownSync(path, uid, uid);
  made.add(path);
}

async function runCommand(run: BuildRun): Promise<FromSupervisor & { op: 'ended' }> {
  const [program, ...args] = run.argv;
  const child = spawn(program!, [...args, run.command], { cwd: home, env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
  let why: Exceeded | 'stopped' | null = null;
  const stopWatching = watchLimits(run, (reason) => {
    why = reason;
    killAll('SIGKILL');
  });
  void handleStops((graceMs) => {
    why ??= 'stopped';
    killAll('SIGTERM');
    setTimeout(() => killAll('SIGKILL'), graceMs);
  });
  const alive = setInterval(() => void send({ op: 'alive' }), aliveMs);
  const output = forwardOutput(child, run.outputBytes);
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', reject);
  });
  stopWatching();
  clearInterval(alive);
  // What it has started in the background ends with it.
  while (processesLeft()) {
    killAll('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await output;
  return { op: 'ended', code, signal, why };
}

async function handleStops(stop: (graceMs: number) => void): Promise<void> {
  for (;;) {
    const message = await nextMessage();
    if (message.op === 'stop') stop(message.graceMs);
  }
}

/** Resolves when the last writer has closed the pipe. Beyond `maxBytes` the output is read and dropped, except for its end. */
async function forwardOutput(child: ChildProcess, maxBytes: number): Promise<void> {
  let sent = 0;
  let tail: Buffer | null = null;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const bytes = chunk.subarray(0, maxBytes - sent);
    sent += bytes.length;
    if (bytes.length > 0) await send({ op: 'output', sizeBytes: bytes.length }, bytes);
    if (bytes.length < chunk.length)
      tail = Buffer.concat([tail ?? Buffer.alloc(0), chunk.subarray(bytes.length).subarray(-tailBytes)]).subarray(-tailBytes);
  }
  if (tail !== null) await send({ op: 'cut', sizeBytes: tail.length }, tail);
}

async function sendFiles(run: BuildRun): Promise<void> {
  const files = findFiles(home, outputFolder(home, run.outputDir, run.outputDirs));
  await send({ op: 'found', files: files.length });
  for (const { path, truePath, sizeBytes } of files) {
    await send({ op: 'file', path, sizeBytes });
    const fd = openSync(truePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    for await (const bytes of createReadStream('', { fd })) await put(bytes as Buffer);
  }
}

async function nextMessage(): Promise<ToSupervisor> {
  const message = await input.line();
  if (message === null) process.exit(0);
  return message as ToSupervisor;
}

/** In one write: several parts of this program send while the command runs. */
async function send(message: FromSupervisor, bytes?: Buffer): Promise<void> {
  await put(bytes === undefined ? frame(message) : Buffer.concat([Buffer.from(frame(message)), bytes]));
}

function put(bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
}
