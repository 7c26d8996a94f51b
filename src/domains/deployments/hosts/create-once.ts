/** Creates something at a host once, if the host does not recognise a repeated request. */
import { backoffMs } from '../../../backoff.ts';
import { monotonicMs } from '../../../clock.ts';
import { OutcomeUnknown } from './calls.ts';
import type { HostCalls } from './host.ts';
import { UnknownForm } from './read-answer.ts';

export type CreateOnce<T> = {
  /** An earlier request may have created it. */
  mayExist: boolean;
  /** By the tag; null: it is not there. */
  find(): Promise<T | null>;
  create(): Promise<T>;
  /** Called when the outcome of a creation is not known. */
  outcomeUnknown(): void;
  calls: Pick<HostCalls, 'pause'>;
  signal: AbortSignal;
};

const attempts = 5;
const maxFailingMs = 60_000;
const firstPauseMs = 500;
const maxPauseMs = 8_000;

/** Searches for it before it creates it again: after an answer that is lost or not understood it may exist. */
export async function createOnce<T>({ mayExist, find, create, outcomeUnknown, calls, signal }: CreateOnce<T>): Promise<T> {
  let mayBeThere = mayExist;
  let failingSinceMs: number | null = null;
  for (let faults = 0; ; ) {
    if (mayBeThere) {
      const found = await find();
      if (found !== null) return found;
    }
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown || error instanceof UnknownForm)) throw error;
      outcomeUnknown();
      faults += 1;
      mayBeThere = true;
      failingSinceMs ??= monotonicMs();
      if (faults >= attempts || monotonicMs() > failingSinceMs + maxFailingMs) throw error;
      await calls.pause(backoffMs(faults - 1, firstPauseMs, maxPauseMs), signal);
    }
  }
}
