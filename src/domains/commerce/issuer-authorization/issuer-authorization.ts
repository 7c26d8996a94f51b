/**
 * An authorization at an external issuer, and its bookings here. The issuer asks whether to approve it; card and wallet decide, and are
 * debited at once. The final outcome is the issuer's: a late answer is ignored, a shop captures less, or refunds. So the bookings are
 * reconciled with the issuer's state, by querying it at each notification and periodically: events may be lost, or arrive out of order.
 *
 * A1 Each request of the issuer is one authorization here, whose id is derived from it: however often it is repeated, it is booked once.
 * A2 Before anything is booked, a pending query of the issuer is committed: a crash in between leaves no money debited.
 * A3 A booking beyond the issuer's state is refunded, once; a capture beyond the booking is charged, once, and if card or wallet refuse
 *    that, it is recorded as uncovered.
 */

import Type from 'typebox';
import {
  defineActor,
  type EffectContext,
  type EffectOutcome,
  type EffectResult,
  type Turn,
  type TurnContext,
} from '../../../actors/define-actor.ts';
import type { AuthorizationState } from '../../../authorization-state.ts';
import { backoffMs, elapsedBackoffMs } from '../../../backoff.ts';
import { derivedId } from '../../../ids.ts';
import { card, type DeclineReason } from '../card/messages.ts';
import { commerceIds } from '../ids.ts';
import type { OutsideIssuer } from '../issuing/port.ts';
import { type Charge, IssuerAuthorization, type IssuerAuthorizationRow } from './entity.ts';
import { issuerAuthorizationInputs } from './inputs.ts';
import {
  type Asked,
  type CardAndMerchant,
  type Charged,
  type Decision,
  type IssuerAuthorizationContract,
  issuerAuthorization,
} from './messages.ts';
import { bookedMinor, dueMinor, isOver, takeBack } from './settle.ts';

type State = IssuerAuthorizationRow | null;
type Row = IssuerAuthorizationRow;
/** `number`: null: the issuer has already approved it. */
export type ChargeInput = { cardId: string; authorizationId: string; number: number | null; amountMinor: number; merchant: string };

export type IssuerAuthorizationEffects = {
  charge(input: ChargeInput): Promise<Charged>;
  readAuthorization: OutsideIssuer['readAuthorization'];
};

/** Most requests and charges of one authorization; a shop that needs more makes a new authorization. */
const maxCharges = 100;
/** Notifications of a decision arrive sooner; this is for lost ones. */
const firstReadMs = 20_000;
const openReadMs = 24 * 3_600_000;
const failedReadMs = 5_000;
const maxRetryMs = 3_600_000;
/** Issuers release an authorization after 31 days at most. */
const readForMs = 40 * 24 * 3_600_000;
const chargeAgainMs = 1_000;
const readTimer = 'look';
const chargeTimer = 'charge';

export function issuerAuthorizationActor({ charge, readAuthorization }: IssuerAuthorizationEffects) {
  return defineActor<Row, IssuerAuthorizationContract>({
    ref: issuerAuthorization,
    entity: IssuerAuthorization,
    inputs: issuerAuthorizationInputs,
    commands: { request, news: notified, charged, looked: stateRead, chargeAgain, look: readNow },
    queries: { get: (state) => state },
    effects: {
      charge: {
        run: (input: ChargeInput) => charge(input),
        repeatable: () => true,
        timeoutMs: 30_000,
        isBrief: true,
        lane: 'vital',
        outcome: 'charged',
        input: Type.Object({
          cardId: Type.String(),
          authorizationId: Type.String(),
          number: Type.Union([Type.Integer(), Type.Null()]),
          amountMinor: Type.Integer(),
          merchant: Type.String(),
        }),
      },
      look: {
        run: (_input: object, { actorId, signal }: EffectContext) => readAuthorization(actorId, signal),
        repeatable: () => true,
        timeoutMs: 30_000,
        lane: 'vital',
        outcome: 'looked',
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function request(
  state: State,
  { number, amountMinor, ...about }: Asked,
  ctx: TurnContext<IssuerAuthorizationContract>,
): Turn<State, Decision> {
  const before = state ?? newRow(about, ctx);
  const known = before.charges.find((charge) => charge.number === number);
  if (known !== undefined && known.outcome !== 'asked') return { state: before, reply: decisionOf(known) };
  if (known === undefined) {
    const { issuerState, charges } = before;
    const isDecidedThere = issuerState !== null && (number < issuerState.decidedRequests || isOver(issuerState));
    if (isDecidedThere || charges.length >= maxCharges)
      return { state, reply: { approved: false, authorizationId: null, reason: 'decided_there' } };
  }
  ctx.defer(String(number));
  const authorizationId = known?.authorizationId ?? authorizationIdOf(before, number);
  const reply: Decision = { approved: true, authorizationId };
  if (known !== undefined) return { state: before, reply };
  ctx.schedule(readTimer, ctx.nowMs + firstReadMs, 'look', {});
  return { state: withCharge(before, { authorizationId, number, amountMinor }, ctx), reply };
}

function notified(
  state: State,
  { approved, ...about }: CardAndMerchant & { approved: boolean },
  ctx: TurnContext<IssuerAuthorizationContract>,
): Turn<State, void> {
  if (state === null && !approved) return { state, reply: undefined };
  return { state: startRead(state ?? newRow(about, ctx), ctx), reply: undefined };
}

function charged(state: State, { outcome }: EffectResult<Charged>, ctx: TurnContext<IssuerAuthorizationContract>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  const decided = state.charges.find(({ authorizationId }) => authorizationId === decidedBy(outcome));
  if (outcome.kind !== 'done' || decided === undefined) {
    // It may be booked: only card and wallet know, and they recognise its id.
    const triedForMs = ctx.nowMs - Math.max(...state.charges.filter(isAsked).map(({ atMs }) => atMs));
    if (triedForMs < readForMs)
      ctx.schedule(chargeTimer, ctx.nowMs + elapsedBackoffMs(triedForMs, chargeAgainMs, maxRetryMs), 'chargeAgain', {});
    return { state, reply: null };
  }
  if (decided.outcome !== 'asked') return { state, reply: null };
  const { declineReason } = outcome.value;
  const now: Charge = { ...decided, outcome: declineReason === null ? 'approved' : 'declined', declineReason };
  if (now.number !== null) ctx.answer('request', String(now.number), decisionOf(now));
  const charges = state.charges.map((charge) => (charge === decided ? now : charge));
  const uncoveredMinor = state.uncoveredMinor + (now.number === null && declineReason !== null ? now.amountMinor : 0);
  return { state: settled({ ...state, charges, uncoveredMinor }, ctx), reply: null };
}

function stateRead(
  state: State,
  { effectId, outcome }: EffectResult<AuthorizationState>,
  ctx: TurnContext<IssuerAuthorizationContract>,
): Turn<State, null> {
  if (state === null || state.readId !== effectId) return { state, reply: null };
  const { readAgain, failedReads, createdAt } = state;
  const rested: Row = { ...state, readId: null, readAgain: false };
  const ageMs = ctx.nowMs - createdAt;
  if (outcome.kind !== 'done') {
    if (ageMs < readForMs) scheduleRead(backoffMs(failedReads, failedReadMs, maxRetryMs), ctx);
    return { state: { ...rested, failedReads: failedReads + 1 }, reply: null };
  }
  const updated = settled({ ...rested, issuerState: outcome.value, failedReads: 0 }, ctx);
  if (readAgain) return { state: startRead(updated, ctx), reply: null };
  const isSettled = dueMinor({ ...updated, charges: updated.charges.filter((charge) => !isAsked(charge)) }, ctx.nowMs) !== null;
  if (ageMs >= readForMs || (isSettled && isOver(outcome.value))) ctx.unschedule(readTimer);
  else scheduleRead(isSettled ? openReadMs : elapsedBackoffMs(ageMs, firstReadMs, maxRetryMs), ctx);
  return { state: updated, reply: null };
}

function chargeAgain(state: State, _input: object, ctx: TurnContext<IssuerAuthorizationContract>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  for (const charge of state.charges.filter(isAsked)) run(state, charge, ctx);
  return { state, reply: null };
}

function readNow(state: State, _input: object, ctx: TurnContext<IssuerAuthorizationContract>): Turn<State, null> {
  return { state: state === null ? null : startRead(state, ctx), reply: null };
}

/** A query that began before the notification may have read an older state. */
function startRead(state: Row, ctx: TurnContext<IssuerAuthorizationContract>): Row {
  if (state.readId !== null) return { ...state, readAgain: true };
  return { ...state, readId: ctx.run('look', {}) };
}

function scheduleRead(inMs: number, ctx: TurnContext<IssuerAuthorizationContract>): void {
  ctx.schedule(readTimer, ctx.nowMs + inMs, 'look', {});
}

/** Makes the bookings equal to the issuer's state, as far as that is known. */
function settled(state: Row, ctx: TurnContext<IssuerAuthorizationContract>): Row {
  const due = dueMinor(state, ctx.nowMs);
  if (due === null) return state;
  const booked = bookedMinor(state.charges);
  if (booked > due) {
    const { charges, returned } = takeBack(state.charges, booked - due);
    for (const { of, amountMinor } of returned) giveBack(state, of, amountMinor, ctx);
    return { ...state, charges, uncoveredMinor: 0 };
  }
  const uncoveredMinor = Math.min(state.uncoveredMinor, due - booked);
  const missingMinor = due - booked - uncoveredMinor;
  if (missingMinor === 0) return { ...state, uncoveredMinor };
  if (state.charges.length >= maxCharges) return { ...state, uncoveredMinor: due - booked };
  const authorizationId = authorizationIdOf(state, `more ${state.charges.length}`);
  return withCharge({ ...state, uncoveredMinor }, { authorizationId, number: null, amountMinor: missingMinor }, ctx);
}

function giveBack(
  { cardId, accountId, merchant, issuerState }: Row,
  { authorizationId, returnedMinor, atMs }: Charge,
  amountMinor: number,
  ctx: TurnContext<IssuerAuthorizationContract>,
): void {
  ctx.send(card, cardId, 'reverse', {
    transferId: derivedId(commerceIds.transaction, accountId, authorizationId, String(returnedMinor)),
    authorizationId,
    amountMinor,
    merchant,
    reason: reasonOf(issuerState!),
    authorizedAtMs: atMs,
  });
}

function reasonOf({ approved, status }: AuthorizationState) {
  if (!approved) return 'not_approved' as const;
  return status === 'reversed' || status === 'expired' ? status : ('captured_less' as const);
}

function withCharge(
  state: Row,
  details: Pick<Charge, 'authorizationId' | 'number' | 'amountMinor'>,
  ctx: TurnContext<IssuerAuthorizationContract>,
): Row {
  const charge: Charge = { ...details, atMs: ctx.nowMs, outcome: 'asked', declineReason: null, returnedMinor: 0 };
  run(state, charge, ctx);
  return { ...state, charges: [...state.charges, charge] };
}

function run(
  { cardId, merchant }: Row,
  { authorizationId, number, amountMinor }: Charge,
  ctx: TurnContext<IssuerAuthorizationContract>,
): void {
  ctx.run('charge', { cardId, authorizationId, number, amountMinor, merchant });
}

function decidedBy(outcome: EffectOutcome<Charged>): string | null {
  return outcome.kind === 'done' ? outcome.value.authorizationId : null;
}

function decisionOf({ authorizationId, outcome, declineReason }: Charge): Decision {
  if (outcome === 'approved') return { approved: true, authorizationId };
  return { approved: false, authorizationId, reason: declineReason as DeclineReason };
}

/** Recorded in the turn that requests the charge, and read from there afterwards: an id recorded by an earlier version stays the same. */
function authorizationIdOf({ id, accountId }: Pick<Row, 'id' | 'accountId'>, which: number | string): string {
  return derivedId(commerceIds.authorization, accountId, 'issuer', id, String(which));
}

function isAsked({ outcome }: Charge): boolean {
  return outcome === 'asked';
}

function newRow(about: CardAndMerchant, ctx: TurnContext<IssuerAuthorizationContract>): Row {
  const nothing = { charges: [], issuerState: null, uncoveredMinor: 0, failedReads: 0, readId: null, readAgain: false };
  return { id: ctx.id, ...about, ...nothing, createdAt: ctx.nowMs };
}
