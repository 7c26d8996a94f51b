/**
 * The turns by which a connection renews its tokens. At most one renewal runs; all callers that need another token wait for it, and none of
 * them is answered before the new tokens are committed.
 */
import type { EffectOutcome, Turn, TurnContext } from '../../../actors/define-actor.ts';

/** The columns of a connection that renewals use. */
export type Renewable = {
  /** Incremented with every new access token. */
  generation: number;
  /** Whether there is a refresh token. */
  renewable: boolean;
  /** End of the access token; null: it does not expire. */
  expiresAt: number | null;
  /** The running renewal. */
  refreshEffectId: string | null;
};

/** Why a call needs another token: this one expires soon, or was refused. */
export type TokenNeed = { generation: number; why: 'due' | 'rejected' };

/** `ended`: it must be connected again. `unavailable`: there are no tokens now. */
export type TokenReply = { kind: 'renewed' } | { kind: 'unavailable'; message: string } | { kind: 'ended' };

/** `refused`: the refresh token was refused twice, or this client is unknown. */
export type Renewed<Grant, Reason> = { kind: 'granted'; grant: Grant } | { kind: 'refused'; reason: Reason };

/**
 * For effects of connections, which take no slot of a lane although they call external services: during an outage they would occupy the
 * slots of mails and money, and the slots of tools are occupied by the very calls that wait for a renewal. Each connection has at most one
 * of each kind, and `Outbound` bounds the requests to one origin.
 */
export const noPlace = { repeatable: () => true, isBrief: true } as const;

/** The limit of a call that waits for a renewal: longer than its effect takes, with all its tries. */
export const renewalWaitMs = 40_000;

type Context = Pick<
  TurnContext<{
    commands: { needToken(input: TokenNeed): TokenReply };
    queries: Record<never, never>;
    effects: { refresh(input: Record<string, never>): unknown };
  }>,
  'nowMs' | 'defer' | 'answer' | 'run' | 'cancel'
>;

const waiting = 'refreshed';

/**
 * For the command `needToken`, which waits for a renewal.
 *
 * @param fail the connection without usable tokens
 */
export function needToken<Row extends Renewable>(
  row: Row,
  { generation, why }: TokenNeed,
  ctx: Context,
  fail: (reason: 'expired' | 'revoked') => Row,
): Turn<Row, TokenReply> {
  // The reply of a deferred caller is replaced by that of the turn that ends the renewal.
  const renewed: TokenReply = { kind: 'renewed' };
  if (row.generation > generation) return { state: row, reply: renewed };
  if (!row.renewable) {
    const isOver = row.expiresAt !== null && row.expiresAt <= ctx.nowMs;
    if (why === 'due' && !isOver) return { state: row, reply: renewed };
    return { state: fail(isOver ? 'expired' : 'revoked'), reply: { kind: 'ended' } };
  }
  ctx.defer(waiting);
  return { state: row.refreshEffectId === null ? { ...row, refreshEffectId: ctx.run('refresh', {}) } : row, reply: renewed };
}

/** Answers the callers that wait for the renewal. Returns the grant or the refusal; null: the outcome is unknown, and the tokens stay. */
export function renewalOutcome<G, R>(outcome: EffectOutcome<Renewed<G, R>>, ctx: Context): Renewed<G, R> | null {
  if (outcome.kind !== 'done') {
    answer(ctx, { kind: 'unavailable', message: outcome.kind === 'failed' ? outcome.message : 'There are no tokens now' });
    return null;
  }
  answer(ctx, outcome.value.kind === 'granted' ? { kind: 'renewed' } : { kind: 'ended' });
  return outcome.value;
}

/**
 * The connection ends while a renewal may run: its callers are answered, and the renewal goes on. The service may have granted new tokens
 * already, which nobody else knows: with its outcome their access is ended too. It requests none after this turn.
 */
export function endWaits(row: Renewable, ctx: Context): void {
  if (row.refreshEffectId !== null) answer(ctx, { kind: 'ended' });
}

/** Ends the running renewal: its result must not change later tokens. */
export function endRenewal<Row extends Renewable>(row: Row, reply: TokenReply, ctx: Context): Row {
  if (row.refreshEffectId === null) return row;
  ctx.cancel(row.refreshEffectId);
  answer(ctx, reply);
  return { ...row, refreshEffectId: null };
}

function answer(ctx: Context, reply: TokenReply): void {
  ctx.answer('needToken', waiting, reply);
}
