/** Asks the node that owns a shard, and retries while no node owns it: a moving shard delays its callers and fails none of them. */
import { backoffMs } from '../backoff.ts';
import type { Placement, RemoteAsk } from '../cluster/placement.ts';
import { AppError, errorCodes, outcomeUnknown } from '../errors.ts';

type Query = Pick<RemoteAsk, 'kind' | 'id' | 'name' | 'input' | 'deadlineMs' | 'trace'>;

const maxPauseMs = 500;

/**
 * Resolves with the owner's reply, or with `'local'` as soon as this node owns the shard itself. Rejects with the owner's refusal. Resolves
 * with `'abandoned'` when the caller no longer waits.
 *
 * A try whose outcome is unknown may take effect until its deadline: it may be delayed in the network, or forwarded to the next owner. So
 * all later tries are repeats (`ask.repeat` is set): their refusal is recorded, and an earlier try that arrives later gets it.
 *
 * @param onAttempt called with whether a try may have taken effect, so that a missing answer counts as unknown
 */
export async function askOwner(
  placement: Placement,
  shard: number,
  ask: RemoteAsk,
  isAbandoned: () => boolean,
  onAttempt: (out: boolean) => void,
): Promise<{ reply: unknown } | 'local' | 'abandoned'> {
  let unknown = false;
  for (let attempt = 0; !isAbandoned(); attempt++) {
    if (placement.epochOf(shard) !== null) return 'local';
    onAttempt(true);
    try {
      return { reply: await placement.forward(shard, ask) };
    } catch (error) {
      // A try that may have taken effect keeps the outcome unknown: a later try that is shed has checked nothing.
      if (!isRetryable(error, ask)) throw unknown && isShed(error) ? outcomeUnknown(error) : error;
      unknown ||= !ask.query && (error as AppError).code === 'outcome_unknown';
      ask.repeat ||= unknown;
      onAttempt(unknown);
    }
    await placement.moved(backoffMs(attempt, 10, maxPauseMs));
  }
  return 'abandoned';
}

function isShed(error: unknown): boolean {
  return error instanceof AppError && errorCodes[error.code].retry === 'later';
}

/** Sends a query to another node once, without a pending ask here; if it may be tried again, `orElse` continues. */
export function queryOwner(placement: Placement, shard: number, about: Query, orElse: () => Promise<unknown>): Promise<unknown> {
  const ask = { ...about, query: true, repeat: false, commandId: null, effectId: null };
  return placement.forward(shard, ask).catch((error) => {
    if (!isRetryable(error, ask)) throw error;
    return orElse();
  });
}

/** The ask had no effect (a query), or a repeat is recognised by its id; and another node, or this one a little later, may answer. */
function isRetryable(error: unknown, { query, commandId, effectId }: RemoteAsk): boolean {
  if (!(error instanceof AppError)) return false;
  if (error.code === 'outcome_unknown') return query || commandId !== null || effectId !== null;
  return error.code === 'draining' || errorCodes[error.code].retry === 'reroute';
}
