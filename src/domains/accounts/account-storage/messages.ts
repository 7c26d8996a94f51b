/** Commands and queries of the storage of an account. Its id is the account's. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';

/** Files of all workspaces, each with its newest version. -1 in a limit: unlimited. */
export type StorageUse = { bytes: number; files: number };

export type Reservation = {
  /** A stored content that is not yet put into its file. */
  contentKey: string;
  /** Its file, and the size of the version that it replaces; null if there is none. */
  fileId: string;
  sizeBytes: number;
  replacesBytes: number | null;
  limits: StorageUse;
};

export type AccountStorageContract = {
  commands: {
    /** Reserves space for a content until it is put into its file, or for ten minutes. Refused with `plan_required` if it exceeds the limits. */
    reserve(input: Reservation): null;
    /** The content was not put into its file. */
    release(input: { contentKey: string }): null;
    /** From a file: its size changed, or it was created or deleted. `contentKey`: the content that was put into it; null: it was deleted. */
    changed(input: { contentKey: string | null; bytes: number; files: number }): null;
    /** A file was refused for lack of space: recounts the usage, at most once a minute. */
    recount(input: null): null;
    /** From its effect: the difference between the register and the files. */
    counted(input: EffectResult<StorageUse>): null;
  };
  queries: {
    /** The used space, and the space reserved for contents being stored. */
    used(input: null): StorageUse;
  };
  effects: {
    count(input: Record<string, never>): StorageUse;
  };
};

export const accountStorage = actorRef<AccountStorageContract>('account_storage');
