/** The port through which a webhook dispatcher gets its account's committed events; live ones come from the stream between the nodes. */

export type FeedEvent = {
  id: string;
  seq: number;
  type: string;
  taskId: string | null;
  createdAtMs: number;
  /** The envelope of contract §8 as JSON text. */
  envelope: string;
};

export interface FeedReader {
  /** Called with each event of the account, in order of `seq`, without a gap. */
  take(event: FeedEvent): void;
  /** False: the reader accepts no more for now. Nothing is read ahead meanwhile. */
  hasCapacity(): boolean;
}

export interface FeedHandle {
  /** The reader accepts events again. */
  resume(): void;
  /** No event is passed to the reader after this. */
  close(): void;
}

export interface EventFeed {
  /** Follows an account from the event after `seq` on; recovers from failures. */
  open(accountId: string, seq: number, reader: FeedReader): FeedHandle;
  /** Events of a task, or the event without a task, from `from` to `to`; at most `limit`, in order. Throws `unavailable`. */
  read(accountId: string, taskId: string | null, from: number, to: number, limit: number): Promise<FeedEvent[]>;
}
