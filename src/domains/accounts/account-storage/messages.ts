/** Commands and queries of the storage of an account. Its id is the account's. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';

/** Files of all workspaces, each with its newest version. -1 in a limit: unlimited. */
export type StorageUse = { bytes: number; files: number };

export type Reservation = {
  /** The content that is stored and not yet put into its file. */
  contentKey: string;
  /** The file it is for, and the size of the version that it replaces; null where there is none. */
  fileId: string;
  sizeBytes: number;
  replacesBytes: number | null;
  limits: StorageUse;
};

export type AccountStorageContract = {
  commands: {
    /** Reserves space for a content until it is put into its file, or for ten minutes. Refused with `plan_required` where it exceeds the limits. */
    reserve(input: Reservation): null;
    /** The content was not put into its file. */
    release(input: { contentKey: string }): null;
    /** From a file: it has grown, shrunk, been created or deleted. `contentKey`: the content that was put into it; null: it was deleted. */
    changed(input: { contentKey: string | null; bytes: number; files: number }): null;
    /** A file was refused for lack of space: recounts what is used, once a minute at most. */
    recount(input: null): null;
    /** From its effect: what the register lacks. */
    counted(input: EffectResult<StorageUse>): null;
  };
  queries: {
    /** What is used, and what is reserved for contents being stored. */
    used(input: null): StorageUse;
  };
  effects: {
    count(input: Record<string, never>): StorageUse;
  };
};

export const accountStorage = actorRef<AccountStorageContract>('account_storage');
