/**
 * What one activation has sent to whom last, so that each message names the one before it from this actor to the same one. It lives with
 * the activation: when turns are undone, it goes with them.
 */
import type { MessageDraft } from '../storage/commit-unit.ts';

/** With more receivers it begins anew. */
const maxReceivers = 256;

export class SentMessages {
  /** By receiver. */
  private readonly last = new Map<string, string>();
  private readonly sender: string;
  /** This actor has sent nothing to anybody but what stands here. */
  private isComplete: boolean;

  constructor(sender: string, isComplete: boolean) {
    this.sender = sender;
    this.isComplete = isComplete;
  }

  /** Says in the message who sends it and what it comes after. */
  note(message: MessageDraft): void {
    const receiver = `${message.kind}/${message.actorId}`;
    const before = this.last.get(receiver);
    message.sender = this.sender;
    if (before !== undefined) message.after = before;
    else if (this.isComplete) message.after = null;
    if (before === undefined && this.last.size >= maxReceivers) {
      this.last.clear();
      this.isComplete = false;
    }
    this.last.set(receiver, message.id);
  }
}
