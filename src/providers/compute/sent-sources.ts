/** The sources that a job reads: the caller's streams, sent to the process in requested pieces. */
import { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { PlainError, ToChild, ToParent } from './protocol.ts';

type Question = Exclude<ToParent, { op: 'ready' | 'report' | 'done' | 'threw' }>;
type Source = { stream: Readable; pieces: AsyncIterator<Uint8Array> };

/** A job reads its file only a few times; more open sources at once are a defect of the job. */
const maxOpen = 16;

export class SentSources {
  /** The source's error, as the caller's code threw it. */
  failure: unknown = null;
  private readonly open: (() => Promise<NodeJS.ReadableStream>) | undefined;
  private readonly say: (message: ToChild) => void;
  private readonly sources = new Map<number, Source>();
  private closed = false;

  constructor(open: (() => Promise<NodeJS.ReadableStream>) | undefined, say: (message: ToChild) => void) {
    this.open = open;
    this.say = say;
  }

  answer(question: Question): void {
    if (question.op === 'close') return this.end(question.source);
    const answer = question.op === 'open' ? this.begin(question.source) : this.read(question.source);
    answer.then(this.say, (error: unknown) => {
      this.failure ??= error;
      this.say({ op: 'failed', error: plain(error) });
    });
  }

  close(): void {
    this.closed = true;
    for (const id of [...this.sources.keys()]) this.end(id);
  }

  private async begin(id: number): Promise<ToChild> {
    if (this.open === undefined || this.sources.size >= maxOpen) throw new Error('a job opened a source that it has not');
    const opened = await this.open();
    const stream = opened instanceof Readable ? opened : new Readable().wrap(opened);
    // An error is reported where the source is read.
    stream.on('error', () => {});
    this.sources.set(id, { stream, pieces: stream[Symbol.asyncIterator]() });
    if (this.closed) this.end(id);
    return { op: 'opened' };
  }

  private async read(id: number): Promise<ToChild> {
    const source = this.sources.get(id);
    if (source === undefined) throw new Error('a job read a source that is not open');
    const { value, done } = await source.pieces.next();
    return { op: 'piece', bytes: done ? null : Buffer.isBuffer(value) ? value : Buffer.from(value) };
  }

  private end(id: number): void {
    const source = this.sources.get(id);
    this.sources.delete(id);
    source?.stream.destroy();
  }
}

function plain(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  return { name: error.name, message: error.message, ...(error instanceof AppError ? { code: error.code } : {}) };
}
