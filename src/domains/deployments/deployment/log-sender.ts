/**
 * What an effect writes to its deployment's log while it runs: collected for a moment, and stored in order. A line is stored once, also where the answer to
 * the actor is lost; a repeated effect writes its lines again.
 */
import { randomUUID } from 'node:crypto';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { maxLineChars, maxLogLines } from './journal.ts';
import type { LogSource } from './log-entity.ts';
import { deployment, type LogLine } from './messages.ts';
import { retryUnavailable } from './retry-unavailable.ts';

export type LogSenderParts = {
  actors: Pick<ActorSystem, 'ask'>;
  clock: Clock;
  deploymentId: string;
  effectId: string;
  /** Masks what must not be shown. */
  mask(text: string): string;
  signal: AbortSignal;
  /** Called when the deployment does not need this effect any more. */
  onUnneeded(): void;
};

const collectMs = 200;
/** Of one event. */
const batchLines = 100;
const batchChars = 32 * 1024;

export class LogSender {
  private readonly waiting: LogLine[] = [];
  private readonly run = randomUUID();
  private readonly parts: LogSenderParts;
  private added = 0;
  private batches = 0;
  private timer: NodeJS.Timeout | null = null;
  private sending: Promise<void> = Promise.resolve();

  constructor(parts: LogSenderParts) {
    this.parts = parts;
  }

  add(text: string, source: LogSource): void {
    if (this.parts.signal.aborted || this.added > maxLogLines) return;
    this.added++;
    this.waiting.push({
      at: this.parts.clock.nowMs(),
      source,
      text: storable(this.parts.mask(text)).slice(0, maxLineChars).toWellFormed(),
    });
    this.timer ??= setTimeout(() => this.flush(), collectMs);
  }

  /** Resolves when all lines are stored, or the effect is not needed any more. Does not reject. */
  async end(): Promise<void> {
    this.flush();
    await this.sending;
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.sending = this.sending.then(() => this.send()).catch(() => {});
  }

  private async send(): Promise<void> {
    const { actors, deploymentId, effectId, signal, onUnneeded } = this.parts;
    while (this.waiting.length > 0) {
      const lines = this.takeBatch();
      const commandId = `${effectId}/${this.run}/${this.batches++}`;
      const isCurrent = await retryUnavailable(signal, () =>
        actors.ask(deployment, deploymentId, 'logged', { effectId, lines }, { commandId }),
      );
      if (!isCurrent) onUnneeded();
    }
  }

  private takeBatch(): LogLine[] {
    let chars = 0;
    const after = this.waiting.findIndex(({ text }, i) => i === batchLines || (chars += text.length) > batchChars);
    return this.waiting.splice(0, after === -1 ? this.waiting.length : Math.max(1, after));
  }
}

/** Text that the database accepts, without sequences that move a terminal's cursor. */
function storable(text: string): string {
  return text.toWellFormed().replace(/\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}
