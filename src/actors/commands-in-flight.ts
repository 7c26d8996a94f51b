/**
 * Commands with idempotency keys on this node, from the ask until the outcome is certain. They take effect once, and a repeat gets the
 * result of the first: it shares a pending ask, waits for a commit that is being sent, and reads the recorded reply after that.
 *
 * I1 No turn of a command id begins while the commit of another turn of that id is undecided.
 * I2 A caller that waits for an undecided commit gets `outcome_unknown` when its deadline passes.
 * I3 A repeat is refused only by a refusal that is recorded, so that it stays refused (R8).
 */
import { monotonicMs } from '../clock.ts';
import { AppError, outcomeUnknown } from '../errors.ts';
import type { CommandDraft } from '../storage/commit-unit.ts';
import type { CommandReplies } from './command-replies.ts';
import type { Envelope } from './envelope.ts';
import type { PendingAsks } from './pending-asks.ts';
import { isFinalRefusal } from './recorded-refusal.ts';

type Waiting = { envelope: Envelope; run(): void };
type PendingCommand = { envelope: Envelope; answer: Promise<unknown> };

export class CommandsInFlight {
  /** Pending asks: a repeat shares the answer of the first. At most as many as there are pending asks. */
  private readonly pendingAsks = new Map<string, PendingCommand>();
  /** Recorded by a turn whose commit is undecided, with the envelopes that wait for it. */
  private readonly undecided = new Map<string, Waiting[]>();
  private readonly pending: PendingAsks;
  private readonly replies: CommandReplies;

  constructor(pending: PendingAsks, replies: CommandReplies) {
    this.pending = pending;
    this.replies = replies;
  }

  /** The first pending ask with that id, if there is one. */
  find(commandId: string): PendingCommand | undefined {
    return this.pendingAsks.get(commandId);
  }

  /** From now on repeats join this one. */
  add(commandId: string, envelope: Envelope): Promise<unknown> {
    const answer = new Promise<unknown>((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
    });
    this.pending.add(envelope);
    this.pendingAsks.set(commandId, { envelope, answer });
    const remove = () => this.pendingAsks.get(commandId)?.envelope === envelope && this.pendingAsks.delete(commandId);
    answer.then(remove, remove);
    return answer;
  }

  /**
   * The answer of a pending ask, for a repeat of its command. A refusal of the pending ask may not be recorded: then the repeat asks by
   * itself, and gets the record if there is one.
   */
  join(first: PendingCommand, { repeat, deadlineMs }: Envelope, askAlone: () => Promise<unknown>): Promise<unknown> {
    if (!repeat) return first.answer;
    first.envelope.repeat = true;
    return first.answer.catch((error) => {
      if (!isFinalRefusal(error)) throw error;
      if (monotonicMs() >= deadlineMs) throw outcomeUnknown(error);
      return askAlone();
    });
  }

  /** Answers the envelope with its command's recorded result, from this or another node, or calls `take` if there is none. */
  runOrReplay(commandId: string, envelope: Envelope, run: () => void): void {
    const first = this.pendingAsks.get(commandId);
    if (first !== undefined && first.envelope !== envelope) {
      envelope.mayHaveEffect = true;
      first.envelope.repeat ||= envelope.repeat;
      first.answer.then(
        (reply) => this.pending.settle(envelope, undefined, reply),
        (error) => {
          if (envelope.repeat && isFinalRefusal(error)) this.runOrReplay(commandId, envelope, run);
          else this.pending.settle(envelope, error, undefined);
        },
      );
      return;
    }
    if (this.wait(commandId, envelope, run)) return;
    this.replies.find(commandId).then(
      (found) => {
        if (found !== null) this.pending.settleAsRecorded(envelope, found.reply);
        // Meanwhile an ask that another node sent back to this one may have run the command.
        else if (!envelope.settled && !this.wait(commandId, envelope, run)) run();
      },
      (error) => this.pending.settle(envelope, error, undefined),
    );
  }

  /** A turn has recorded the command, in a unit that will be committed. */
  recorded(commandId: string): void {
    if (!this.undecided.has(commandId)) this.undecided.set(commandId, []);
  }

  /** The commit's outcome is certain. @param committed false: nothing of it is stored */
  decided(commands: readonly CommandDraft[], committed: boolean): void {
    for (const { id, reply } of commands) {
      const waiting = this.undecided.get(id);
      if (waiting === undefined) continue;
      this.undecided.delete(id);
      for (const { envelope, run } of waiting) {
        if (envelope.settled) continue;
        envelope.mayHaveEffect = false;
        if (committed) this.pending.settleAsRecorded(envelope, reply);
        else this.runOrReplay(id, envelope, run);
      }
    }
  }

  /** The command has taken effect before: the envelope gets the recorded reply. */
  answerDuplicate(commandId: string, envelope: Envelope): void {
    const failMissing = () => this.pending.settle(envelope, new AppError('internal', 'The record of a command is missing'), undefined);
    this.runOrReplay(commandId, envelope, failMissing);
  }

  private wait(commandId: string, envelope: Envelope, run: () => void): boolean {
    const waiting = this.undecided.get(commandId);
    if (waiting === undefined) return false;
    envelope.mayHaveEffect = true;
    waiting.push({ envelope, run });
    return true;
  }
}
