/**
 * A card's counterpart at an external issuer: requests it from the issuer, and sends the card's status to the issuer. The card decides at
 * once and alone; the issuer's state follows, even after a long outage.
 *
 * I1 A requested card is made once: the issuer recognises a repeat by the card's id.
 * I2 One status is sent at a time, the newest: the issuer ends with the card's status. A cancelled card stays cancelled.
 * I3 This actor never has the card number: the issuer sends it only to the request that shows it.
 */
import Type from 'typebox';
import { defineActor, type EffectContext, type EffectResult, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { elapsedBackoffMs } from '../../../backoff.ts';
import { configured } from '../../../configured.ts';
import { AppError } from '../../../errors.ts';
import { type Log, warned } from '../../../log.ts';
import type { CardRow } from '../card/entity.ts';
import { card } from '../card/messages.ts';
import type { OutsideIssuer } from '../issuing/port.ts';
import { IssuedCard, type IssuedCardRow } from './entity.ts';
import { issuedCardInputs } from './inputs.ts';
import { type CardAtIssuer, type IssuedByNow, type IssuedCardContract, issuedCard, type Making } from './messages.ts';

type State = IssuedCardRow | null;

const madeKey = 'made';
const retryTimer = 'retry';
const firstRetryMs = 1_000;
const maxRetryMs = 15 * 60_000;
/** The issuer recognises a repeated card id for a day. */
const makeWithinMs = 23 * 3_600_000;
/** After this time an operator has read the log. */
const notifyWithinMs = 30 * 24 * 3_600_000;

/** @param issuer null: none is configured now, so requests wait */
export function issuedCardActor(issuer: OutsideIssuer | null, log: Log) {
  return defineActor<IssuedCardRow, IssuedCardContract>({
    ref: issuedCard,
    entity: IssuedCard,
    inputs: issuedCardInputs,
    commands: { issue, making, follow, followed, tryAgain },
    queries: { get: (state) => state },
    effects: {
      make: {
        run: (input: CardAtIssuer, { actorId, signal }: EffectContext) =>
          refusable(async () => ({
            kind: 'made',
            ...(await configured(issuer, 'issuer of cards').make({ cardId: actorId, ...input }, signal)),
          })),
        repeatable: () => true,
        timeoutMs: 30_000,
        lane: 'vital',
        outcome: 'making',
        input: Type.Object({ accountId: Type.String(), name: Type.String(), currency: Type.String(), spendLimitMinor: Type.Integer() }),
      },
      tell: {
        run: ({ issuerCardId, status }: { issuerCardId: string; status: CardRow['status'] }, { actorId, signal }: EffectContext) =>
          warned(log, { card: actorId, status }, 'the issuer was not notified of the status of a card; retrying', async () => {
            await configured(issuer, 'issuer of cards').setStatus(issuerCardId, status, signal);
            return status;
          }),
        repeatable: () => true,
        timeoutMs: 30_000,
        lane: 'vital',
        outcome: 'followed',
        input: Type.Object({ issuerCardId: Type.String(), status: Type.String() }),
      },
    },
    idleTimeoutMs: 60_000,
  });
}

function issue(state: State, input: CardAtIssuer, ctx: TurnContext<IssuedCardContract>): Turn<IssuedCardRow, IssuedByNow> {
  if (state?.status === 'made') return { state, reply: madeOf(state) };
  ctx.defer(madeKey);
  const reply = { issuerCardId: '', last4: '', numberHash: '' };
  if (state?.status === 'making') return { state, reply };
  const { accountId, name, currency, spendLimitMinor } = input;
  const pending: IssuedCardRow = {
    ...{ id: ctx.id, accountId, name, currency, spendLimitMinor, status: 'making', refusal: null },
    ...{ issuerCardId: null, last4: null, numberHash: null, wanted: 'active', confirmed: 'active' },
    ...{ tryingSince: ctx.nowMs, createdAt: state?.createdAt ?? ctx.nowMs },
  };
  make(pending, ctx);
  return { state: pending, reply };
}

function making(state: State, { outcome }: EffectResult<Making>, ctx: TurnContext<IssuedCardContract>): Turn<State, null> {
  if (state?.status !== 'making') return { state, reply: null };
  if (outcome.kind !== 'done') {
    if (ctx.nowMs - state.tryingSince! < makeWithinMs) return later(state, ctx);
    return refused(state, 'The issuer did not answer for a day', ctx);
  }
  if (outcome.value.kind === 'refused') return refused(state, outcome.value.why, ctx);
  const { issuerCardId, last4, numberHash } = outcome.value;
  const made: IssuedCardRow = { ...state, status: 'made', issuerCardId, last4, numberHash, tryingSince: null };
  const { accountId, name, currency, spendLimitMinor } = made;
  ctx.send(card, ctx.id, 'create', { accountId, mode: 'live', name, currency, spendLimitMinor, last4, numberHash, issuerCardId });
  ctx.answer('issue', madeKey, madeOf(made));
  return { state: made, reply: null };
}

function refused(state: IssuedCardRow, why: string, ctx: TurnContext<IssuedCardContract>): Turn<State, null> {
  ctx.answer('issue', madeKey, new AppError('conflict', `The card was not made: ${why}`));
  return { state: { ...state, status: 'refused', refusal: why, tryingSince: null }, reply: null };
}

function follow(state: State, { status }: { status: CardRow['status'] }, ctx: TurnContext<IssuedCardContract>): Turn<State, void> {
  if (state?.status !== 'made' || state.wanted === 'cancelled') return { state, reply: undefined };
  const wanted = { ...state, wanted: status };
  // The card's latest status wins, in any order of messages.
  if (state.wanted !== status) ctx.send(card, ctx.id, 'issuerFollows', { status });
  // When the running request ends, its status is compared with the wanted one.
  if (state.tryingSince !== null || wanted.confirmed === status) return { state: wanted, reply: undefined };
  return { state: notifyIssuer(wanted, ctx), reply: undefined };
}

function followed(state: State, { outcome }: EffectResult<CardRow['status']>, ctx: TurnContext<IssuedCardContract>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  if (outcome.kind !== 'done')
    return ctx.nowMs - state.tryingSince! < notifyWithinMs ? later(state, ctx) : { state: { ...state, tryingSince: null }, reply: null };
  const updated: IssuedCardRow = { ...state, confirmed: outcome.value };
  return { state: updated.confirmed === updated.wanted ? { ...updated, tryingSince: null } : notifyIssuer(updated, ctx), reply: null };
}

function later(state: IssuedCardRow, ctx: TurnContext<IssuedCardContract>): Turn<State, null> {
  const pauseMs = elapsedBackoffMs(ctx.nowMs - state.tryingSince!, firstRetryMs, maxRetryMs);
  ctx.schedule(retryTimer, ctx.nowMs + pauseMs, 'tryAgain', {});
  return { state, reply: null };
}

function tryAgain(state: State, _input: object, ctx: TurnContext<IssuedCardContract>): Turn<State, null> {
  if (state?.status === 'making') make(state, ctx);
  else if (state?.status === 'made' && state.tryingSince !== null) {
    const { issuerCardId, wanted: status } = state;
    ctx.run('tell', { issuerCardId: issuerCardId!, status });
  }
  return { state, reply: null };
}

function make({ accountId, name, currency, spendLimitMinor }: CardAtIssuer, ctx: TurnContext<IssuedCardContract>): void {
  ctx.run('make', { accountId, name, currency, spendLimitMinor });
}

function notifyIssuer(state: IssuedCardRow, ctx: TurnContext<IssuedCardContract>): IssuedCardRow {
  ctx.run('tell', { issuerCardId: state.issuerCardId!, status: state.wanted });
  return { ...state, tryingSince: ctx.nowMs };
}

function madeOf({ issuerCardId, last4, numberHash }: IssuedCardRow): IssuedByNow {
  return { issuerCardId: issuerCardId!, last4: last4!, numberHash: numberHash! };
}

/** A refusal of the issuer is final: it is not retried. */
async function refusable(make: () => Promise<Making>): Promise<Making> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'conflict' && error.code !== 'not_found')) throw error;
    return { kind: 'refused', why: error.message };
  }
}
