/** Making something at a host once, where the host does not recognise a repeated request. */
import { backoffMs } from '../../../backoff.ts';
import { monotonicMs } from '../../../clock.ts';
import { OutcomeUnknown } from './calls.ts';
import type { HostCalls } from './host.ts';

export type CreateOnce<T> = {
  /** An earlier request may have made it. */
  mayExist: boolean;
  /** By the tag; null: it is not there. */
  find(): Promise<T | null>;
  create(): Promise<T>;
  /** Called when the outcome of a creation is not known. */
  doubt(): void;
  calls: Pick<HostCalls, 'pause'>;
  signal: AbortSignal;
};

const attempts = 5;
const longestTroubleMs = 60_000;
const firstPauseMs = 500;
const longestPauseMs = 8_000;

/** Looks for it before it is made again: after an answer that was lost it may be there. */
export async function createOnce<T>({ mayExist, find, create, doubt, calls, signal }: CreateOnce<T>): Promise<T> {
  let isSought = mayExist;
  let troubleSinceMs: number | null = null;
  for (let faults = 0; ; ) {
    if (isSought) {
      const found = await find();
      if (found !== null) return found;
    }
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      doubt();
      faults += 1;
      isSought = true;
      troubleSinceMs ??= monotonicMs();
      if (faults >= attempts || monotonicMs() > troubleSinceMs + longestTroubleMs) throw error;
      await calls.pause(backoffMs(faults - 1, firstPauseMs, longestPauseMs), signal);
    }
  }
}
