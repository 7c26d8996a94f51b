/**
 * The messages between a node and the supervisor of a build, over the supervisor's stdin and stdout: lines of JSON, where `sizeBytes` says how many
 * bytes follow the line. Both sides import this file; it imports nothing of the service, because it runs within the build's namespaces.
 */
import type { Readable } from 'node:stream';
import type { Exceeded } from './processes.ts';

export type ToSupervisor =
  /** A file of the copy of the workspace; its content follows. */
  | { op: 'file'; path: string; sizeBytes: number }
  | { op: 'run'; run: BuildRun }
  /** SIGTERM to every process of the build, then SIGKILL. */
  | { op: 'stop'; graceMs: number };

export type BuildRun = {
  /** The program that gives up the supervisor's rights, and its arguments up to the command. */
  argv: string[];
  command: string;
  /** null: the first of `outputDirs` that is a folder. */
  outputDir: string | null;
  outputDirs: string[];
  memoryBytes: number;
  /** Of the machine, since the start: see `BuildLimits`. */
  sharedBytes: number;
  /** Processes that run at once. */
  running: number;
  outputBytes: number;
};

export type FromSupervisor =
  | { op: 'ready' }
  /** Once a second while the command runs. */
  | { op: 'alive' }
  /** Output of the command; the bytes follow. */
  | { op: 'output'; sizeBytes: number }
  /** The output was longer than `outputBytes`; its last bytes follow. */
  | { op: 'cut'; sizeBytes: number }
  /** No process of the command is left. `why`: what it was ended for. */
  | { op: 'ended'; code: number | null; signal: string | null; why: Exceeded | 'stopped' | null }
  /** How many files of the output follow. */
  | { op: 'found'; files: number }
  /** A file of the output; its content follows. */
  | { op: 'file'; path: string; sizeBytes: number }
  | { op: 'refused'; code: 'bad_name' | 'build_failed'; message: string }
  | { op: 'done' };

const maxLineBytes = 64 * 1024;

export const frame = (message: ToSupervisor | FromSupervisor): string => `${JSON.stringify(message)}\n`;

/** Reads lines and bytes in turn. Throws for a line that is too long or no JSON, and where the stream ends within bytes. */
export class FrameReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: Readable) {
    this.chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** null: the stream has ended. */
  async line(): Promise<unknown> {
    for (let searched = 0; ; ) {
      const end = this.rest.indexOf(10, searched);
      if (end >= 0) {
        const line = this.rest.subarray(0, end).toString('utf8');
        this.rest = this.rest.subarray(end + 1);
        return JSON.parse(line);
      }
      searched = this.rest.length;
      if (searched > maxLineBytes) throw new Error('a line is too long');
      const more = await this.next();
      if (more === null) return null;
      this.rest = Buffer.concat([this.rest, more]);
    }
  }

  async *bytes(sizeBytes: number): AsyncGenerator<Buffer> {
    for (let left = sizeBytes; left > 0; ) {
      const chunk = this.rest.length > 0 ? this.rest : await this.next();
      if (chunk === null) throw new Error('the stream ended within a file');
      const taken = chunk.subarray(0, left);
      this.rest = chunk.subarray(taken.length);
      left -= taken.length;
      yield taken;
    }
  }

  async whole(sizeBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.bytes(sizeBytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  private async next(): Promise<Buffer | null> {
    const { value, done } = await this.chunks.next();
    return done === true ? null : value;
  }
}
