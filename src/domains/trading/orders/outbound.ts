/**
 * Places an order at its venue at most once, although requests and answers may be lost. A pure state machine: an actor stores its state with each turn
 * and runs the returned actions as effects; the effect `post` must not be repeatable, so that after a crash its outcome is `unknown` and it is not run
 * again.
 *
 * U1 The state `posting` is stored before the request is sent, with the exact body. No other part sends or repeats it.
 * U2 Everything except a known answer is `unknown`, also an exception after the request was sent: never a rejection.
 * U3 The body is sent again only where the venue makes that harmless (`afterUnknown`), or where it is certain that nothing was sent before.
 * U4 A refusal is final only if every earlier post is known to have made no order: otherwise an earlier one may have used the money.
 * U5 An order that a look-up does not find may still exist: it may arrive late, or be in no list. Only `settled_absent`, which reconciliation
 *    decides by its own rules, ends an unknown outcome: as cancelled if a cancel was requested, else as a rejection.
 */
import Type, { type Static } from 'typebox';
import { backoffMs } from '../../../backoff.ts';

/**
 * What the venue's rules allow when the outcome of a post is not known.
 * - `look_up_then_repeat`: the id is unique there for ever, so the same body may be sent again once a look-up finds nothing (Alpaca)
 * - `repeat`: the same body is answered with the order that the first one made (Coinbase)
 * - `look_up`: nothing keeps a second order from being made; the body is never sent again (Tradier)
 */
export type AfterUnknown = 'look_up_then_repeat' | 'repeat' | 'look_up';

export const OutboundState = Type.Object({
  step: Type.Union([
    Type.Literal('posting'),
    /** Posts at `dueAtMs`. */
    Type.Literal('post_due'),
    Type.Literal('looking_up'),
    /** Looks up at `dueAtMs`. */
    Type.Literal('look_up_due'),
    Type.Literal('known'),
  ]),
  /** Number of posts begun. An answer names its post. */
  posts: Type.Integer(),
  lookUps: Type.Integer(),
  /** Number of answers "later" so far. */
  postponed: Type.Integer(),
  dueAtMs: Type.Union([Type.Integer(), Type.Null()]),
  /** The first post with an unknown outcome: from then on the order may exist. null: there is none. */
  unknownSinceMs: Type.Union([Type.Integer(), Type.Null()]),
  /** The first post that certainly was not sent. */
  unsentSinceMs: Type.Union([Type.Integer(), Type.Null()]),
  /** The operator was notified that the outcome stays unknown. */
  attention: Type.Boolean(),
  /** A cancel is requested: nothing is sent again, and an order that is found is cancelled. */
  cancelled: Type.Boolean(),
});
export type OutboundState = Static<typeof OutboundState>;

export type OutboundEvent =
  /** The result of a post; `post` is its number. */
  | { kind: 'posted'; post: number; answer: PostAnswer }
  /** The result of a lookup. `absent`: the venue answered and did not list the order. `waitMs`: the venue answers no lookup for this time. */
  | { kind: 'looked_up'; lookUp: number; answer: 'found' | 'absent' | 'unknown'; waitMs?: number }
  /** Found in another way: by reconciliation, a fill, or the stream. */
  | { kind: 'found' }
  | { kind: 'settled_absent'; reason: string }
  /** `dueAtMs` is reached. */
  | { kind: 'due' }
  | { kind: 'cancel_requested' };

export type PostAnswer =
  | { kind: 'accepted' }
  /** The venue reports an order with this id. */
  | { kind: 'exists' }
  | { kind: 'refused'; reason: string }
  | { kind: 'retry_after'; waitMs: number }
  /** Certainly nothing was sent. */
  | { kind: 'not_sent'; reason: string }
  | { kind: 'unknown'; reason: string };

/** The actions to take after the state is stored. */
export type OutboundAction =
  | { kind: 'post'; post: number }
  | { kind: 'look_up'; lookUp: number }
  | { kind: 'wake'; atMs: number }
  /** The outcome is not known yet: the order shows `unknown_outcome`. */
  | { kind: 'report_unknown' }
  | { kind: 'ask_for_attention' }
  | { kind: 'reject'; reason: string }
  /** A cancel is requested, and nothing was sent or nothing arrived: the order ends cancelled. */
  | { kind: 'cancel' };

export type OutboundTiming = { lookUpMs: number; reconcileMs: number };
export type OutboundRules = { afterUnknown: AfterUnknown } & OutboundTiming;
export type OutboundMove = { state: OutboundState; actions: OutboundAction[] };

const maxPostponed = 3;
const firstPauseMs = 250;
const maxPauseMs = 5_000;
const maxRetryAfterMs = 60_000;

/** Store the state together with the body, then take the action. */
export function beginOutbound(): OutboundMove {
  const state: OutboundState = {
    step: 'posting',
    posts: 1,
    lookUps: 0,
    postponed: 0,
    dueAtMs: null,
    unknownSinceMs: null,
    unsentSinceMs: null,
    attention: false,
    cancelled: false,
  };
  return { state, actions: [{ kind: 'post', post: 1 }] };
}

/** An event that is late, repeated, or belongs to an earlier step changes nothing. */
export function moveOutbound(state: OutboundState, event: OutboundEvent, rules: OutboundRules, nowMs: number): OutboundMove {
  if (state.step === 'known') return { state, actions: [] };
  switch (event.kind) {
    case 'posted':
      if (state.step !== 'posting' || event.post !== state.posts) return acceptLate(state, event.answer);
      return posted(state, event.answer, rules, nowMs);
    case 'looked_up':
      if (event.answer === 'found') return known(state);
      if (state.step !== 'looking_up' || event.lookUp !== state.lookUps) return { state, actions: [] };
      return lookedUp(state, event, rules, nowMs);
    case 'found':
      return known(state);
    case 'settled_absent':
      // A post in flight can still create the order.
      if (state.step === 'posting') return { state, actions: [] };
      return known(state, [state.cancelled ? { kind: 'cancel' } : { kind: 'reject', reason: event.reason }]);
    case 'due':
      if (state.dueAtMs === null) return { state, actions: [] };
      // Clocks of timers and of turns may differ slightly: an early timer must be set again.
      if (nowMs < state.dueAtMs) return { state, actions: [{ kind: 'wake', atMs: state.dueAtMs }] };
      return state.step === 'post_due' ? post(state) : lookUp(state);
    case 'cancel_requested':
      return cancelRequested(state, nowMs);
  }
}

/** Nothing was sent that could still arrive, so an order that waits to be sent again ends at once. */
function cancelRequested(state: OutboundState, nowMs: number): OutboundMove {
  const cancelled = { ...state, cancelled: true };
  if (state.step !== 'post_due') return { state: cancelled, actions: [] };
  if (state.unknownSinceMs === null) return known(cancelled, [{ kind: 'cancel' }]);
  return wait(cancelled, 'look_up_due', nowMs);
}

function acceptLate(state: OutboundState, answer: PostAnswer): OutboundMove {
  return answer.kind === 'accepted' ? known(state) : { state, actions: [] };
}

function posted(state: OutboundState, answer: PostAnswer, rules: OutboundRules, nowMs: number): OutboundMove {
  const mayExist = state.unknownSinceMs !== null;
  switch (answer.kind) {
    case 'accepted':
      return known(state);
    case 'exists':
      // The venue has the order; a lookup returns its state.
      return uncertain(state, rules, nowMs, 'look_up');
    case 'refused':
      if (!mayExist) return known(state, [{ kind: 'reject', reason: answer.reason }]);
      return uncertain(state, rules, nowMs, 'look_up_due');
    case 'retry_after': {
      if (!mayExist && state.postponed >= maxPostponed)
        return known(state, [{ kind: 'reject', reason: 'the broker takes no more requests now' }]);
      if (state.cancelled && !mayExist) return known(state, [{ kind: 'cancel' }]);
      // At a much later price the order would be another one.
      if (!mayExist && answer.waitMs > maxRetryAfterMs)
        return known(state, [{ kind: 'reject', reason: `the broker takes no orders for ${Math.ceil(answer.waitMs / 1_000)} s` }]);
      if (mayExist && (state.cancelled || isOver(state, rules, nowMs))) return uncertain(state, rules, nowMs, 'look_up_due');
      const dueAtMs = nowMs + Math.min(maxRetryAfterMs, Math.max(firstPauseMs, answer.waitMs));
      return { state: { ...state, step: 'post_due', dueAtMs, postponed: state.postponed + 1 }, actions: [{ kind: 'wake', atMs: dueAtMs }] };
    }
    case 'not_sent': {
      if (mayExist) return uncertain(state, rules, nowMs, 'look_up_due');
      const unsentSinceMs = state.unsentSinceMs ?? nowMs;
      if (state.cancelled) return known(state, [{ kind: 'cancel' }]);
      if (nowMs - unsentSinceMs >= rules.lookUpMs) return known(state, [{ kind: 'reject', reason: `never sent: ${answer.reason}` }]);
      const dueAtMs = nowMs + backoffMs(state.posts - 1, firstPauseMs, maxPauseMs);
      const notices: OutboundAction[] = state.unsentSinceMs === null ? [{ kind: 'report_unknown' }] : [];
      return { state: { ...state, step: 'post_due', dueAtMs, unsentSinceMs }, actions: [...notices, { kind: 'wake', atMs: dueAtMs }] };
    }
    case 'unknown':
      if (rules.afterUnknown === 'repeat' && !state.cancelled && !isOver(state, rules, nowMs)) return repeatLater(state, nowMs);
      return uncertain(state, rules, nowMs, mayExist ? 'look_up_due' : 'look_up');
  }
}

function lookedUp(
  state: OutboundState,
  { answer, waitMs = 0 }: Extract<OutboundEvent, { kind: 'looked_up' }>,
  rules: OutboundRules,
  nowMs: number,
): OutboundMove {
  const mayRepeat = rules.afterUnknown !== 'look_up' && !state.cancelled && !isOver(state, rules, nowMs);
  if (answer === 'absent' && mayRepeat) return repeatLater(state, nowMs);
  return uncertain(state, rules, nowMs, 'look_up_due', Math.min(maxRetryAfterMs, waitMs));
}

function repeatLater(state: OutboundState, nowMs: number): OutboundMove {
  const dueAtMs = nowMs + backoffMs(state.posts - 1, firstPauseMs, maxPauseMs);
  const notices: OutboundAction[] = state.unknownSinceMs === null ? [{ kind: 'report_unknown' }] : [];
  const unknownSinceMs = state.unknownSinceMs ?? nowMs;
  return { state: { ...state, step: 'post_due', dueAtMs, unknownSinceMs }, actions: [...notices, { kind: 'wake', atMs: dueAtMs }] };
}

function uncertain(
  state: OutboundState,
  rules: OutboundRules,
  nowMs: number,
  next: 'look_up' | 'look_up_due',
  minPauseMs = 0,
): OutboundMove {
  const unknownSinceMs = state.unknownSinceMs ?? nowMs;
  const actions: OutboundAction[] = state.unknownSinceMs === null ? [{ kind: 'report_unknown' }] : [];
  const isOverdue = isOver({ ...state, unknownSinceMs }, rules, nowMs);
  if (isOverdue && !state.attention) actions.push({ kind: 'ask_for_attention' });
  const held: OutboundState = { ...state, unknownSinceMs, attention: state.attention || isOverdue };
  const pauseMs = isOverdue ? rules.reconcileMs : backoffMs(state.lookUps, firstPauseMs, maxPauseMs);
  const move = next === 'look_up' ? lookUp(held) : wait(held, 'look_up_due', nowMs, Math.max(minPauseMs, pauseMs));
  return { state: move.state, actions: [...actions, ...move.actions] };
}

function isOver({ unknownSinceMs }: OutboundState, { lookUpMs }: OutboundRules, nowMs: number): boolean {
  return unknownSinceMs !== null && nowMs - unknownSinceMs >= lookUpMs;
}

function post(state: OutboundState): OutboundMove {
  const posts = state.posts + 1;
  return { state: { ...state, step: 'posting', posts, dueAtMs: null }, actions: [{ kind: 'post', post: posts }] };
}

function lookUp(state: OutboundState): OutboundMove {
  const lookUps = state.lookUps + 1;
  return { state: { ...state, step: 'looking_up', lookUps, dueAtMs: null }, actions: [{ kind: 'look_up', lookUp: lookUps }] };
}

function wait(state: OutboundState, step: 'look_up_due', nowMs: number, pauseMs = backoffMs(state.lookUps, firstPauseMs, maxPauseMs)) {
  const dueAtMs = nowMs + pauseMs;
  const move: OutboundMove = { state: { ...state, step, dueAtMs }, actions: [{ kind: 'wake', atMs: dueAtMs }] };
  return move;
}

function known(state: OutboundState, actions: OutboundAction[] = []): OutboundMove {
  return { state: { ...state, step: 'known', dueAtMs: null }, actions };
}
