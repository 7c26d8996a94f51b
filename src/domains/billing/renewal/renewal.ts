/**
 * A renewal: arranging → renewing ⇄ arranging, → stopping → ending → over. It keeps the payment processor's charges consistent with the
 * account, and reports payments to the account. Only the processor charges; the renewal queries it.
 *
 * N1 Only one effect that changes something at the processor runs at a time. The previous charge is stopped and queried once more before
 *    another begins: no term is paid twice.
 * N2 Each paid term is reported to the account by a durable message in the turn that moves `paidUntil` over it: once, in order.
 * N3 Whatever the processor does, even if it does not answer: when payments end, the account is notified that its plan has ended.
 */

import { type ActorDefinition, defineActor, type EffectsOf, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { NotYet } from '../../../actors/not-yet.ts';
import { elapsedBackoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import { account } from '../../accounts/contract.ts';
import type { PaidTerm, RenewalState } from '../payments/port.ts';
import type { Arrange } from './effects.ts';
import { Renewal, type RenewalRow } from './entity.ts';
import { renewalInputs } from './inputs.ts';
import { type BeginRenewal, type RenewalContract, renewal } from './messages.ts';

type State = RenewalRow | null;

const stateReadKey = 'stateRead';
const firstRetryMs = 5_000;
const maxRetryMs = 3_600_000;
/** The processor needs about an hour to charge after the start of a term. */
const firstPollAfterMs = 2 * 3_600_000;
/** How often a failed or missing charge is polled, besides notifications. */
const pollEveryMs = 24 * 3_600_000;
/** How long arranging is retried after the paid term has ended; stopping is retried longer. */
const arrangedWithinMs = 3 * 86_400_000;
const stoppedWithinMs = 30 * 86_400_000;

export function renewalActor(effects: EffectsOf<RenewalContract>): ActorDefinition<RenewalRow, RenewalContract> {
  return defineActor<RenewalRow, RenewalContract>({
    ref: renewal,
    entity: Renewal,
    inputs: renewalInputs,
    commands: {
      begin(state, { paidUntilMs, ...input }, ctx) {
        return { state: state ?? begun({ ...input, paidUntilMs }, ctx), reply: null };
      },
      change(state, offer, ctx) {
        // The checkout will create it soon.
        if (state === null) throw new NotYet('A renewal is changed before it has begun');
        return { state: changed(state, offer, ctx), reply: null };
      },
      replaced(state, { accountId = '' }, ctx) {
        if (state === null) return { state: neverBegun(accountId, ctx), reply: null };
        const waits = state.status === 'arranging' || state.status === 'stopping';
        return { state: state.status === 'over' ? state : toStop({ ...state, status: 'over' }, waits, ctx), reply: null };
      },
      look: changing((row, _input, ctx) => {
        if (row.processorId === null || row.status !== 'renewing') return row;
        ctx.run('look', { processorId: row.processorId });
        ctx.defer(stateReadKey);
        return row;
      }),
      goOn: changing((row, _input, ctx) => {
        if (row.status === 'arranging') return arrange(row, ctx);
        if (row.status === 'renewing') ctx.run('look', { processorId: row.processorId! });
        if (row.status === 'stopping' || (row.status === 'over' && row.failingSince !== null)) return stop(row, ctx);
        return row.status === 'ending' ? ended(row, ctx) : row;
      }),
      arranged: changing((row, { outcome }, ctx) => {
        if (outcome.kind !== 'done') return failing(row, ctx);
        const { standings: states, processorId, arrangement } = outcome.value;
        const known = { ...withPaid(row, states, ctx), processorId, failingSince: null };
        if (row.status !== 'arranging') return stop(known, ctx);
        // The wanted arrangement has changed meanwhile.
        return arrangement === row.arrangement ? renewing(known, ctx) : arrange(known, ctx);
      }),
      stopped: changing((row, { outcome }, ctx) => {
        if (outcome.kind !== 'done') return failing(row, ctx);
        const known: RenewalRow = { ...withPaid(row, outcome.value, ctx), processorId: null, failingSince: null };
        if (row.status === 'over') return known;
        if (row.status === 'arranging') return arrange(known, ctx);
        ctx.schedule('goOn', known.paidUntil, 'goOn', {});
        return { ...known, status: 'ending' };
      }),
      looked: changing((row, { outcome }, ctx) => {
        const isAnswered = outcome.kind === 'done';
        ctx.answer(
          'look',
          stateReadKey,
          isAnswered ? null : new AppError('unavailable', 'The payment processor does not answer now', { retryAfterS: 5 }),
        );
        if (row.status !== 'renewing') return row;
        if (!isAnswered) {
          ctx.schedule('goOn', ctx.nowMs + maxRetryMs, 'goOn', {});
          return row;
        }
        const { processorId, standing: state } = outcome.value;
        if (processorId !== row.processorId) return row;
        const known = withPaid(row, [state], ctx);
        return state.goesOn ? renewing(known, ctx) : ended(known, ctx);
      }),
    },
    queries: { get: (state) => state },
    effects,
    idleTimeoutMs: 60_000,
  });
}

function changing<I>(of: (row: RenewalRow, input: I, ctx: TurnContext<RenewalContract>) => RenewalRow) {
  return (state: State, input: I, ctx: TurnContext<RenewalContract>): Turn<RenewalRow | null, null> => ({
    state: state === null ? null : of(state, input, ctx),
    reply: null,
  });
}

function begun({ paidUntilMs, ...input }: BeginRenewal, ctx: TurnContext<RenewalContract>): RenewalRow {
  const none = { arrangement: 1, processorId: null, failingSince: null };
  const row: RenewalRow = { ...input, ...none, id: ctx.id, paidUntil: paidUntilMs, status: 'arranging', createdAt: ctx.nowMs };
  return arrange(row, ctx);
}

/** The replacing checkout is not the one that began the renewal, so their messages have no order. */
function neverBegun(accountId: string, ctx: TurnContext<RenewalContract>): RenewalRow {
  const noPayer = { customer: '', method: '', payment: '' };
  const none = { arrangement: 0, processorId: null, failingSince: null, paidUntil: ctx.nowMs, createdAt: ctx.nowMs };
  return { ...none, id: ctx.id, accountId, plan: 'free', billingPeriod: 'monthly', payer: noPayer, status: 'over' };
}

function changed(row: RenewalRow, offer: Pick<RenewalRow, 'plan' | 'billingPeriod'>, ctx: TurnContext<RenewalContract>): RenewalRow {
  const { status } = row;
  if (status === 'over') return row;
  const waits = status === 'arranging' || status === 'stopping';
  if (offer.plan === 'free') return status === 'ending' ? row : toStop({ ...row, status: 'stopping' }, waits, ctx);
  if (status === 'renewing' && row.plan === offer.plan && row.billingPeriod === offer.billingPeriod) return row;
  const next: RenewalRow = { ...row, ...offer, status: 'arranging', arrangement: row.arrangement + 1 };
  return waits ? next : arrange(next, ctx);
}

/** The effect's outcome sets the timer again: until then no other effect begins. */
function arrange(row: RenewalRow, ctx: TurnContext<RenewalContract>): RenewalRow {
  ctx.unschedule('goOn');
  const { accountId, plan, billingPeriod, payer, paidUntil: paidUntilMs, arrangement } = row;
  ctx.run('arrange', { accountId, plan, billingPeriod, payer, paidUntilMs, arrangement } satisfies Arrange);
  return row;
}

/** @param waits whether an effect runs, or will be retried: its outcome continues with the arrangement wanted then */
function toStop(row: RenewalRow, waits: boolean, ctx: TurnContext<RenewalContract>): RenewalRow {
  return waits ? row : stop(row, ctx);
}

function stop(row: RenewalRow, ctx: TurnContext<RenewalContract>): RenewalRow {
  ctx.unschedule('goOn');
  ctx.run('stop', { payer: row.payer });
  return row;
}

function renewing(row: RenewalRow, ctx: TurnContext<RenewalContract>): RenewalRow {
  ctx.schedule('goOn', Math.max(row.paidUntil + firstPollAfterMs, ctx.nowMs + pollEveryMs), 'goOn', {});
  return { ...row, status: 'renewing' };
}

function failing(row: RenewalRow, ctx: TurnContext<RenewalContract>): RenewalRow {
  const failingSince = row.failingSince ?? ctx.nowMs;
  const known: RenewalRow = { ...row, failingSince };
  const unpaidForMs = ctx.nowMs - row.paidUntil;
  if (unpaidForMs < stoppedWithinMs)
    ctx.schedule('goOn', ctx.nowMs + elapsedBackoffMs(ctx.nowMs - failingSince, firstRetryMs, maxRetryMs), 'goOn', {});
  return row.status !== 'over' && unpaidForMs > arrangedWithinMs ? ended(known, ctx) : known;
}

/** Reports each unreported term to the account. */
function withPaid(row: RenewalRow, states: RenewalState[], ctx: TurnContext<RenewalContract>): RenewalRow {
  const terms = states.flatMap(({ plan, billingPeriod, paid }) => paid.map((term) => ({ plan, billingPeriod, ...term })));
  return terms.sort((a, b) => a.endsAtMs - b.endsAtMs).reduce((known, term) => withTerm(known, term, ctx), row);
}

function withTerm(
  row: RenewalRow,
  term: PaidTerm & Pick<RenewalRow, 'plan' | 'billingPeriod'>,
  ctx: TurnContext<RenewalContract>,
): RenewalRow {
  if (row.status === 'over' || term.endsAtMs <= row.paidUntil) return row;
  const { plan, billingPeriod, paymentId, amountMinor, startsAtMs, endsAtMs: paidUntilMs } = term;
  const paid = { processorId: ctx.id, paymentId, plan, billingPeriod, amountMinor, startsAtMs, paidUntilMs };
  ctx.send(account, row.accountId, 'periodPaid', paid);
  return { ...row, paidUntil: paidUntilMs };
}

function ended(row: RenewalRow, ctx: TurnContext<RenewalContract>): RenewalRow {
  ctx.send(account, row.accountId, 'subscriptionEnded', { processorId: ctx.id, paidUntilMs: row.paidUntil });
  return { ...row, status: 'over' };
}
