/**
 * The last message that one activation has sent to each receiver, so that each message names its predecessor. It belongs to the activation:
 * when turns are undone, both are dropped.
 */
import type { MessageDraft } from '../storage/commit-unit.ts';

/** With more receivers all entries are dropped. */
const maxReceivers = 256;

export class SentMessages {
  /** By receiver. */
  private readonly last = new Map<string, string>();
  private readonly sender: string;
  /** Whether it contains all messages that this actor has ever sent. */
  private isComplete: boolean;

  constructor(sender: string, isComplete: boolean) {
    this.sender = sender;
    this.isComplete = isComplete;
  }

  /** Records the message's sender and predecessor in it. */
  record(message: MessageDraft): void {
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
