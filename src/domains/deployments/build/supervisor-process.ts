/** The node's side of the process that a build runs in: messages in both directions, and its end. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../../errors.ts';
import { FrameReader, type FromSupervisor, frame, type ToSupervisor } from './inside/frames.ts';

const killAgainMs = 50;

export class SupervisorProcess {
  /** Thrown to the reader when it ends by itself. */
  lost: Error = new AppError('unavailable', 'The build could not be started');
  private readonly input: FrameReader;
  private readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly gone: Promise<void>;
  private isGone = false;
  private errorText = '';
  private reason: unknown = null;

  constructor(program: string, args: string[]) {
    // Its own session: what a terminal sends to the service is not sent to the build.
    this.child = spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.input = new FrameReader(this.child.stdout);
    this.gone = new Promise((resolve) => {
      const end = () => {
        this.isGone = true;
        resolve();
      };
      this.child.once('exit', end);
      this.child.once('error', (error) => {
        this.errorText = error.message;
        end();
      });
    });
    // A process that has ended is noticed where it is read.
    this.child.stdin.on('error', () => {});
    this.child.stdout.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errorText = (this.errorText + text).slice(-1_000);
    });
  }

  /** The next message. Throws the reason of `kill`, or `lost`; so do `whole` and `bytes`. */
  async next(): Promise<FromSupervisor> {
    const message = await this.input.line().catch(() => null);
    return message === null ? this.fail() : (message as FromSupervisor);
  }

  /** What follows a message that has a size. */
  async whole(sizeBytes: number): Promise<Buffer> {
    return await this.input.whole(sizeBytes).catch(() => this.fail());
  }

  async *bytes(sizeBytes: number): AsyncGenerator<Buffer> {
    try {
      yield* this.input.bytes(sizeBytes);
    } catch {
      await this.fail();
    }
  }

  /** A process that has ended receives nothing; the next read reports its end. */
  async send(message: ToSupervisor, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = []): Promise<void> {
    await this.write(frame(message));
    for await (const bytes of content) await this.write(bytes);
  }

  /** Ends every process of the build at once; `reason` is thrown to the reader. */
  kill(reason: unknown): void {
    this.reason ??= reason;
    void this.end();
  }

  /** Resolves when no process of the build is left. */
  async end(): Promise<void> {
    this.child.stdin.destroy();
    while (!this.isGone) {
      // The first process of the namespace: it is reported as ended only when all others have. Without it nothing else has begun.
      const first = firstChildOf(this.child.pid);
      if (first === null) this.child.kill('SIGKILL');
      else killed(first);
      await Promise.race([this.gone, pause(killAgainMs)]);
    }
    this.child.stdout.destroy();
    this.child.stderr.destroy();
  }

  /** Resolves when it has ended by itself, or after `withinMs`. */
  async ended(withinMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([this.gone, pause(withinMs, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }

  private async fail(): Promise<never> {
    await this.end();
    if (this.reason !== null) throw this.reason;
    this.lost.cause ??= new Error(this.errorText.trim());
    throw this.lost;
  }

  private write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.child.stdin.write(bytes, () => resolve()));
  }
}

function firstChildOf(pid: number | undefined): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
    return children === '' ? null : Number(children.split(' ')[0]);
  } catch {
    return null;
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
