/** What an action changes in another actor is shown there only after a message has arrived: the caller must find it in both. */
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from '../../clock.ts';

const queryEveryMs = 4;
/** The action is committed. A longer wait, such as for an actor that moves to another node, would only delay its answer. */
const defaultWaitMs = 1_000;

/** Waits until the other actor shows an action that is committed. Never rejects. */
export async function untilShown(isShown: () => Promise<boolean>, waitAtMostMs = defaultWaitMs): Promise<void> {
  const giveUpAtMs = monotonicMs() + waitAtMostMs;
  while (monotonicMs() < giveUpAtMs) {
    // A query fails while the actor moves.
    if (await isShown().catch(() => false)) return;
    await pause(queryEveryMs);
  }
}
