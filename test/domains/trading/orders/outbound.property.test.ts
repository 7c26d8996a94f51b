/** Orders sent to a venue that answers late, twice, after acting or never, or loses requests, with a crash between any two steps. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  type AfterUnknown,
  beginOutbound,
  moveOutbound,
  type OutboundAction,
  type OutboundEvent,
  type OutboundState,
  type PostAnswer,
} from '../../../../src/domains/trading/orders/outbound.ts';

const timing = { lookUpMs: 60_000, reconcileMs: 60_000 };

/** The fate of one post in transit. `acts`: the venue gets it. `lateMs`: the delay after it was sent. */
type Fate = { acts: boolean; lateMs: number; answer: 'its own' | 'lost' | 'not sent' | 'later'; dies: boolean };
type Script = {
  afterUnknown: AfterUnknown;
  refuses: 'never' | 'always' | 'the second';
  fates: Fate[];
  lookUps: ('answered' | 'lost')[];
  listedAfterMs: number;
  cancelAtMs: number | null;
};

/** A venue: Alpaca's ids are unique, Coinbase answers a repeat with the first order, Tradier makes another one. */
class Venue {
  orders: { atMs: number }[] = [];
  private readonly script: Script;

  constructor(script: Script) {
    this.script = script;
  }

  receive(atMs: number): PostAnswer {
    if (this.script.refuses === 'always') return { kind: 'refused', reason: 'no money' };
    const has = this.orders.length > 0;
    // The first order has taken the money.
    if (has && this.script.refuses === 'the second') return { kind: 'refused', reason: 'no money' };
    if (has && this.script.afterUnknown === 'look_up_then_repeat') return { kind: 'exists' };
    if (has && this.script.afterUnknown === 'repeat') return { kind: 'accepted' };
    this.orders.push({ atMs });
    return { kind: 'accepted' };
  }

  isListed(nowMs: number): boolean {
    return this.orders.some(({ atMs }) => nowMs >= atMs + this.script.listedAfterMs);
  }
}

type Run = { state: OutboundState; requested: OutboundAction[]; venue: Venue; bodies: number; nowMs: number };

/** Everything that is due, in the order of its time, until nothing is left or the machine is known; at most 100 steps. */
function run(script: Script): Run {
  const venue = new Venue(script);
  const requested: OutboundAction[] = [];
  const due: { atMs: number; act: () => OutboundEvent | null }[] = [];
  let nowMs = 0;
  let bodies = 0;
  let posts = 0;
  let lookUps = 0;
  let state = beginOutbound().state;
  const actLate = (atMs: number) => {
    venue.receive(atMs);
    return null;
  };
  const perform = (actions: OutboundAction[]) => {
    for (const action of actions) {
      requested.push(action);
      if (action.kind === 'wake') due.push({ atMs: action.atMs, act: () => ({ kind: 'due' }) });
      if (action.kind === 'look_up') {
        const isAnswered = (script.lookUps[lookUps++] ?? 'answered') === 'answered';
        const { lookUp } = action;
        due.push({
          atMs: nowMs + 10,
          act: () => ({ kind: 'looked_up', lookUp, answer: isAnswered ? (venue.isListed(nowMs) ? 'found' : 'absent') : 'unknown' }),
        });
      }
      if (action.kind === 'post') {
        bodies++;
        const fate = script.fates[posts++] ?? { acts: true, lateMs: 0, answer: 'its own', dies: false };
        const { post } = action;
        // What was not sent, or was put off, does nothing.
        const isTaken = fate.acts && fate.answer !== 'not sent' && fate.answer !== 'later';
        const answer = (own: PostAnswer): PostAnswer => {
          if (fate.dies || fate.answer === 'lost' || !isTaken) {
            if (fate.dies) return { kind: 'unknown', reason: 'the process ended' };
            if (fate.answer === 'not sent') return { kind: 'not_sent', reason: 'refused' };
            if (fate.answer === 'later') return { kind: 'retry_after', waitMs: 300 };
            return { kind: 'unknown', reason: 'no answer' };
          }
          return own;
        };
        if (isTaken && fate.lateMs > 10_000) {
          // The caller has given up before the venue acts.
          due.push({ atMs: nowMs + 10_000, act: () => ({ kind: 'posted', post, answer: { kind: 'unknown', reason: 'no answer' } }) });
          due.push({ atMs: nowMs + fate.lateMs, act: () => actLate(nowMs) });
        } else {
          due.push({
            atMs: nowMs + fate.lateMs,
            act: () => ({ kind: 'posted', post, answer: answer(isTaken ? venue.receive(nowMs) : { kind: 'unknown', reason: 'lost' }) }),
          });
        }
      }
    }
  };
  perform([{ kind: 'post', post: 1 }]);
  if (script.cancelAtMs !== null) due.push({ atMs: script.cancelAtMs, act: () => ({ kind: 'cancel_requested' }) });
  for (let steps = 0; steps < 100 && due.length > 0; steps++) {
    due.sort((a, b) => a.atMs - b.atMs);
    const { atMs, act } = due.shift()!;
    nowMs = Math.max(nowMs, atMs);
    const event = act();
    if (event === null) continue;
    // Outcomes are delivered again after a crash before their turn was committed: the second time changes nothing.
    const stored = JSON.parse(JSON.stringify(state)) as OutboundState;
    const move = moveOutbound(stored, event, { afterUnknown: script.afterUnknown, ...timing }, nowMs);
    assert.deepEqual(stored, state, 'the stored state was changed in place');
    state = move.state;
    perform(move.actions);
    const isRepeated = event.kind !== 'due' && event.kind !== 'cancel_requested';
    if (isRepeated) assert.deepEqual(moveOutbound(state, event, { afterUnknown: script.afterUnknown, ...timing }, nowMs).actions, []);
  }
  return { state, requested, venue, bodies, nowMs };
}

const fate = fc.record<Fate>({
  acts: fc.boolean(),
  lateMs: fc.constantFrom(0, 5, 900, 9_000, 15_000, 70_000, 200_000),
  answer: fc.constantFrom('its own', 'its own', 'lost', 'not sent', 'later'),
  dies: fc.boolean(),
});
const script = fc.record<Script>({
  afterUnknown: fc.constantFrom('look_up_then_repeat', 'repeat', 'look_up'),
  refuses: fc.constantFrom('never', 'always', 'the second'),
  fates: fc.array(fate, { maxLength: 6 }),
  lookUps: fc.array(fc.constantFrom('answered', 'lost'), { maxLength: 10 }),
  listedAfterMs: fc.constantFrom(0, 100, 3_000, 100_000),
  cancelAtMs: fc.option(fc.constantFrom(0, 300, 2_000, 30_000)),
});
const check = (property: (run: Run, script: Script) => void) =>
  fc.assert(
    fc.property(script, (one) => property(run(one), one)),
    { numRuns: 250 },
  );

test('an order is never placed twice at a venue (U1, U3)', () => {
  check(({ venue }) => assert.ok(venue.orders.length <= 1, `${venue.orders.length} orders`));
});

test('an order that the venue has is never marked as rejected or cancelled unsent (U2, U4, U5)', () => {
  check(({ venue, requested }) => {
    const isDenied = requested.some(({ kind }) => kind === 'reject' || kind === 'cancel');
    assert.ok(!(isDenied && venue.orders.length > 0));
  });
});

test('an order marked as known and not rejected exists at the venue', () => {
  check(({ venue, requested, state }) => {
    const isDenied = requested.some(({ kind }) => kind === 'reject' || kind === 'cancel');
    if (state.step === 'known' && !isDenied) assert.equal(venue.orders.length, 1);
  });
});

test('an order that the venue lists is found in the end, and an unknown order is reported to a person', () => {
  check(({ venue, requested, state, nowMs }, { listedAfterMs }) => {
    const [order] = venue.orders;
    const settledMs = order === undefined ? 0 : order.atMs + listedAfterMs + 10 * timing.reconcileMs;
    if (order !== undefined && nowMs > settledMs) assert.equal(state.step, 'known');
    if (state.step !== 'known' && nowMs > 10 * timing.lookUpMs) assert.ok(requested.some(({ kind }) => kind === 'ask_for_attention'));
  });
});

test('after a cancel no order is sent', () => {
  check(({ requested, state }, { cancelAtMs }) => {
    if (cancelAtMs !== 0 || !state.cancelled) return;
    assert.equal(requested.filter(({ kind }) => kind === 'post').length, 1);
  });
});

const rules = (afterUnknown: AfterUnknown) => ({ afterUnknown, ...timing });
const after = (afterUnknown: AfterUnknown, ...events: [number, OutboundEvent][]) => {
  let state = beginOutbound().state;
  let actions: OutboundAction[] = [];
  for (const [atMs, event] of events) ({ state, actions } = moveOutbound(state, event, rules(afterUnknown), atMs));
  return { state, actions };
};
const lost: OutboundEvent = { kind: 'posted', post: 1, answer: { kind: 'unknown', reason: 'cut' } };

test('after a lost answer the order is looked up first where ids are unique, sent again where a repeat is safe, and otherwise only looked up', () => {
  assert.deepEqual(after('look_up_then_repeat', [0, lost]).actions, [{ kind: 'report_unknown' }, { kind: 'look_up', lookUp: 1 }]);
  assert.deepEqual(after('repeat', [0, lost]).actions, [{ kind: 'report_unknown' }, { kind: 'wake', atMs: 250 }]);
  assert.deepEqual(after('repeat', [0, lost], [250, { kind: 'due' }]).actions, [{ kind: 'post', post: 2 }]);
  const tradier = after('look_up', [0, lost], [10, { kind: 'looked_up', lookUp: 1, answer: 'absent' }]);
  assert.equal(tradier.state.step, 'look_up_due');
});

test('after a "later" answer the order is sent again up to three times, then it is rejected', () => {
  const later = (post: number): OutboundEvent => ({ kind: 'posted', post, answer: { kind: 'retry_after', waitMs: 2_000 } });
  const due: OutboundEvent = { kind: 'due' };
  const thrice: [number, OutboundEvent][] = [
    [0, later(1)],
    [2_000, due],
    [2_000, later(2)],
    [4_000, due],
    [4_000, later(3)],
    [6_000, due],
  ];
  assert.deepEqual(after('look_up_then_repeat', [0, later(1)]).actions, [{ kind: 'wake', atMs: 2_000 }]);
  assert.deepEqual(after('look_up_then_repeat', ...thrice).actions, [{ kind: 'post', post: 4 }]);
  assert.equal(after('look_up_then_repeat', ...thrice, [6_000, later(4)]).actions[0]!.kind, 'reject');
});

test('a venue that wants no orders for more than a minute gets none later: the order is rejected, with the time in its reason', () => {
  const later = (waitMs: number): OutboundEvent => ({ kind: 'posted', post: 1, answer: { kind: 'retry_after', waitMs } });
  assert.deepEqual(after('look_up', [0, later(60_000)]).actions, [{ kind: 'wake', atMs: 60_000 }]);
  assert.deepEqual(after('look_up', [0, later(86_400_000)]).actions, [
    { kind: 'reject', reason: 'the broker takes no orders for 86400 s' },
  ]);
  assert.equal(after('look_up', [0, later(86_400_000)]).state.step, 'known');
  const cancelled = after('look_up', [0, { kind: 'cancel_requested' }], [1, later(86_400_000)]);
  assert.deepEqual(cancelled.actions, [{ kind: 'cancel' }]);
  // An earlier post may have made the order: nothing is certain, and the same body may be sent again after a minute.
  const unclear = after(
    'repeat',
    [0, lost],
    [250, { kind: 'due' }],
    [300, { kind: 'posted', post: 2, answer: { kind: 'retry_after', waitMs: 86_400_000 } }],
  );
  assert.deepEqual(unclear.actions, [{ kind: 'wake', atMs: 60_300 }]);
});

test('a timer that fires too early is set again', () => {
  assert.deepEqual(after('repeat', [0, lost], [249, { kind: 'due' }]).actions, [{ kind: 'wake', atMs: 250 }]);
});

test('an unknown outcome asks for a person once, and is looked up more slowly from then on', () => {
  const lookedUp = (lookUp: number): OutboundEvent => ({ kind: 'looked_up', lookUp, answer: 'absent' });
  const { state, actions } = after('look_up', [0, lost], [70_000, lookedUp(1)]);
  assert.deepEqual(actions, [{ kind: 'ask_for_attention' }, { kind: 'wake', atMs: 130_000 }]);
  const again = moveOutbound(moveOutbound(state, { kind: 'due' }, rules('look_up'), 130_000).state, lookedUp(2), rules('look_up'), 130_010);
  assert.deepEqual(again.actions, [{ kind: 'wake', atMs: 190_010 }]);
});

test('a venue that demands a pause is asked for the order after it, at most a minute later', () => {
  const busy = (waitMs: number): OutboundEvent => ({ kind: 'looked_up', lookUp: 1, answer: 'unknown', waitMs });
  for (const [waitMs, atMs] of [
    [12_000, 12_100],
    [7_200_000, 60_100],
  ] as const)
    assert.deepEqual(after('look_up', [0, lost], [100, busy(waitMs)]).actions, [{ kind: 'wake', atMs }]);
});
