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

type Waiting = { envelope: Envelope; take(): void };
type Asked = { envelope: Envelope; answer: Promise<unknown> };

export class CommandsInFlight {
  /** Pending asks: a repeat shares the answer of the first. At most as many as there are pending asks. */
  private readonly asked = new Map<string, Asked>();
  /** Recorded by a turn whose commit is undecided, with the envelopes that wait for it. */
  private readonly undecided = new Map<string, Waiting[]>();
  private readonly pending: PendingAsks;
  private readonly replies: CommandReplies;

  constructor(pending: PendingAsks, replies: CommandReplies) {
    this.pending = pending;
    this.replies = replies;
  }

  /** The first pending ask with that id, if there is one. */
  find(commandId: string): Asked | undefined {
    return this.asked.get(commandId);
  }

  /** From now on repeats join this one. */
  add(commandId: string, envelope: Envelope): Promise<unknown> {
    const answer = new Promise<unknown>((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
    });
    this.pending.add(envelope);
    this.asked.set(commandId, { envelope, answer });
    const forget = () => this.asked.get(commandId)?.envelope === envelope && this.asked.delete(commandId);
    answer.then(forget, forget);
    return answer;
  }

  /**
   * The answer of a pending ask, for a repeat of its command. A refusal of the pending ask may not be recorded: then the repeat asks by
   * itself, and gets the record if there is one.
   */
  join(first: Asked, { repeat, deadlineMs }: Envelope, askAlone: () => Promise<unknown>): Promise<unknown> {
    if (!repeat) return first.answer;
    first.envelope.repeat = true;
    return first.answer.catch((error) => {
      if (!isFinalRefusal(error)) throw error;
      if (monotonicMs() >= deadlineMs) throw outcomeUnknown(error);
      return askAlone();
    });
  }

  /** Answers the envelope with its command's recorded result, from this or another node, or calls `take` if there is none. */
  enter(commandId: string, envelope: Envelope, take: () => void): void {
    const first = this.asked.get(commandId);
    if (first !== undefined && first.envelope !== envelope) {
      envelope.taken = true;
      first.envelope.repeat ||= envelope.repeat;
      first.answer.then(
        (reply) => this.pending.settle(envelope, undefined, reply),
        (error) => {
          if (envelope.repeat && isFinalRefusal(error)) this.enter(commandId, envelope, take);
          else this.pending.settle(envelope, error, undefined);
        },
      );
      return;
    }
    if (this.wait(commandId, envelope, take)) return;
    this.replies.find(commandId).then(
      (found) => {
        if (found !== null) this.pending.settleAsRecorded(envelope, found.reply);
        // Meanwhile an ask that another node sent back to this one may have run the command.
        else if (!envelope.settled && !this.wait(commandId, envelope, take)) take();
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
      for (const { envelope, take } of waiting) {
        if (envelope.settled) continue;
        envelope.taken = false;
        if (committed) this.pending.settleAsRecorded(envelope, reply);
        else this.enter(id, envelope, take);
      }
    }
  }

  /** The command has taken effect before: the envelope gets the recorded reply. */
  answerDuplicate(commandId: string, envelope: Envelope): void {
    const gone = () => this.pending.settle(envelope, new AppError('internal', 'The record of a command is missing'), undefined);
    this.enter(commandId, envelope, gone);
  }

  private wait(commandId: string, envelope: Envelope, take: () => void): boolean {
    const waiting = this.undecided.get(commandId);
    if (waiting === undefined) return false;
    envelope.taken = true;
    waiting.push({ envelope, take });
    return true;
  }
}
