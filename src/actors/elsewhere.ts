/** Asks the node that owns a shard, again and again while nobody does: shards move, and their callers should not notice. */
import { backoffMs } from '../backoff.ts';
import type { Placement, RemoteAsk } from '../cluster/placement.ts';
import { AppError, errorCodes, outcomeUnknown } from '../errors.ts';

const longestPauseMs = 500;

/**
 * Resolves with the owner's reply, or with `'here'` as soon as this node owns the shard itself. Rejects with what the owner refused.
 * Ends as well, with `'given up'`, when the caller waits no longer.
 *
 * @param onTry told whether a try is out, so that an answer that never comes counts as unknown
 */
export async function askElsewhere(
  placement: Placement,
  shard: number,
  ask: RemoteAsk,
  gaveUp: () => boolean,
  onTry: (out: boolean) => void,
): Promise<{ reply: unknown } | 'here' | 'given up'> {
  let unknown = false;
  for (let attempt = 0; !gaveUp(); attempt++) {
    if (placement.epochOf(shard) !== null) return 'here';
    onTry(true);
    try {
      return { reply: await placement.forward(shard, ask) };
    } catch (error) {
      // What may have been done stays so, whatever a later try says: one that is shed has not looked.
      if (!mayTryAgain(error, ask)) throw unknown && isShed(error) ? outcomeUnknown(error) : error;
      unknown ||= !ask.query && (error as AppError).code === 'outcome_unknown';
      onTry(unknown);
    }
    await placement.moved(backoffMs(attempt, 10, longestPauseMs));
  }
  return 'given up';
}

function isShed(error: unknown): boolean {
  return error instanceof AppError && errorCodes[error.code].retry === 'later';
}

/** Looks once at an actor of another node. Nobody else's turn depends on it, so nothing of it is kept here; where it fails, `orElse` goes on. */
export function lookElsewhere(placement: Placement, shard: number, ask: RemoteAsk, orElse: () => Promise<unknown>): Promise<unknown> {
  return placement.forward(shard, ask).catch((error) => {
    if (!mayTryAgain(error, ask)) throw error;
    return orElse();
  });
}

/** Nothing was done, as by a look, or what was done is known again by its id; and another node, or this one a little later, may answer. */
function mayTryAgain(error: unknown, { query, commandId, effectId }: RemoteAsk): boolean {
  if (!(error instanceof AppError)) return false;
  if (error.code === 'outcome_unknown') return query || commandId !== null || effectId !== null;
  return error.code === 'draining' || errorCodes[error.code].retry === 'reroute';
}
