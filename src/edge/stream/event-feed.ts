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
  /** Called with each event of the account, in order of `seq`, none left out. */
  take(event: FeedEvent): void;
  /** False: no more for now. Nothing is read ahead for it meanwhile. */
  hasRoom(): boolean;
}

export interface FeedHandle {
  /** There is room again. */
  resume(): void;
  /** Nothing is given any more. */
  close(): void;
}

export interface EventFeed {
  /** Follows an account from the event after `seq` on; reads again by itself after trouble. */
  open(accountId: string, seq: number, reader: FeedReader): FeedHandle;
  /** Events of a task, or the one without a task, from `from` to `to`; at most `limit`, in order. Throws `unavailable`. */
  read(accountId: string, taskId: string | null, from: number, to: number, limit: number): Promise<FeedEvent[]>;
}
