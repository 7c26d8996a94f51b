/** Begins a backtest, for the API and for agents. */
import type { AccountMode } from '../../../mode.ts';
import type { BacktestRow } from './entity.ts';
import { backtest } from './messages.ts';
import { requireCapacity } from './open-computations.ts';
import { type BacktestInput, type RequestParts, requestOf } from './request.ts';
import type { NamedSubject } from './subject.ts';

export type Ids = { id: string; commandId?: string | undefined };

/**
 * Rejects with `invalid`, `not_found` and `rate_limited`. `details` has passed `checkPeriod`.
 *
 * @param symbolsAt where the caller has named the symbols
 */
export async function beginBacktest(
  parts: RequestParts,
  { accountId, mode }: AccountMode,
  { strategyId, strategyVersion, ...subject }: NamedSubject,
  details: BacktestInput,
  { symbolsAt, id, commandId }: Ids & { symbolsAt: readonly string[] },
): Promise<BacktestRow> {
  const { request, compute } = await requestOf(parts, accountId, subject, details, symbolsAt);
  await requireCapacity(parts.database, 'backtest', accountId);
  const input = { accountId, mode, strategyId, strategyVersion, request, compute };
  return parts.actors.ask(backtest, id, 'create', input, { commandId });
}
