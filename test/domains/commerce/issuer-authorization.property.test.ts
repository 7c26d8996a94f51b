/**
 * An authorization at an issuer whose notifications are late, duplicated, reordered or lost: in the end exactly the issuer's amount is
 * paid, to the cent.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { AuthorizationState } from '../../../src/authorization-state.ts';
import type { IssuerAuthorizationRow } from '../../../src/domains/commerce/issuer-authorization/entity.ts';
import { issuerAuthorizationActor } from '../../../src/domains/commerce/issuer-authorization/issuer-authorization.ts';
import { bookedMinor } from '../../../src/domains/commerce/issuer-authorization/settle.ts';
import { type RecordedEffect, RecordedTurn } from '../../support/turn-context.ts';

const amount = fc.integer({ min: 1, max: 1_000 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('request' as const), amount, pays: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('decide' as const), approves: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('news' as const, 'begin' as const, 'timer' as const), which: fc.nat(9) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(9), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('capture' as const, 'refund' as const), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reversed' as const, 'expired' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

test("for any order of notifications, in the end the issuer's amount is booked or recorded as uncovered, and nothing is refunded twice", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.oneof(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), fc.constant<boolean[]>([false])),
      (steps, covers) => {
        const world = new World(covers);
        for (const one of steps) world.play(one);
        world.settle();
        world.check();
      },
    ),
    { numRuns: 400, verbose: 1 },
  );
});

test('a request recorded by an earlier version continues under its id', () => {
  const request = (state: IssuerAuthorizationRow | null) =>
    commands.request(state, { ...about, number: 0, amountMinor: 5 }, new RecordedTurn('iauth_1', 1_000));
  const fresh = request(null).state!;
  const earlier = { ...fresh, charges: fresh.charges.map((charge) => ({ ...charge, authorizationId: 'authz_earlier' })) };
  const { state, reply } = request(earlier);
  assert.deepEqual(reply, { approved: true, authorizationId: 'authz_earlier' });
  assert.deepEqual(state, earlier);
});

const { commands } = issuerAuthorizationActor({ charge: null as never, readAuthorization: null as never });
const about = { cardId: 'crd_1', accountId: 'acct_01k00000000000000000000xyz', merchant: 'm' };

class World {
  private state: IssuerAuthorizationRow | null = null;
  private nowMs = 1_000;
  private pending: { number: number; amount: number } | null = null;
  private asked = 0;
  private readonly there = {
    status: 'pending' as AuthorizationState['status'],
    approved: false,
    amount: 0,
    decided: 0,
    captured: null as number | null,
  };
  private readonly effects = new Map<string, RecordedEffect & { seen: AuthorizationState | null }>();
  private readonly timers = new Map<string, string>();
  /** The decisions of card and wallet, by authorization: the same for every repeat. */
  private readonly decided = new Map<string, boolean>();
  private readonly returned: { transferId: string; authorizationId: string; amountMinor: number }[] = [];
  private readonly covers: boolean[];

  constructor(covers: boolean[]) {
    this.covers = covers;
  }

  play(step: Step): void {
    this.nowMs += 500;
    const { there } = this;
    if (step.kind === 'request') {
      if (this.pending !== null || there.status !== 'pending') return;
      this.pending = { number: there.decided, amount: step.amount };
      this.ask(there.decided, step.amount);
    } else if (step.kind === 'repeat') {
      if (this.pending !== null) this.ask(this.pending.number, this.pending.amount);
    } else if (step.kind === 'decide') this.decide(step.approves);
    else if (step.kind === 'news') this.turn('news', { ...about, approved: there.approved });
    else if (step.kind === 'begin') {
      const effect = this.effectAt(step.which);
      if (effect?.name === 'look') effect.seen ??= this.issuerState();
    } else if (step.kind === 'end') {
      const effect = this.effectAt(step.which);
      if (effect !== undefined) this.end(effect, step.fails);
    } else if (step.kind === 'timer') this.fire([...this.timers.keys()][step.which % Math.max(1, this.timers.size)]);
    else if (step.kind === 'capture') {
      if (this.pending !== null || !there.approved || (there.status !== 'pending' && there.status !== 'closed')) return;
      Object.assign(there, { status: 'closed', captured: (there.captured ?? 0) + step.amount });
    } else if (step.kind === 'refund') {
      if (there.captured !== null) there.captured -= step.amount;
    } else if (this.pending === null && there.status === 'pending' && there.decided > 0) there.status = step.kind;
  }

  /** Everything completes, and one more notification arrives. */
  settle(): void {
    this.decide(true);
    for (let round = 0; round < 200; round++) {
      this.nowMs += 61_000;
      if (round === 0) this.turn('news', { ...about, approved: this.there.approved });
      for (const effect of [...this.effects.values()]) this.end(effect, false);
      if (this.effects.size === 0 && !this.timers.has('charge')) return;
      this.fire('charge');
    }
    assert.fail('it never comes to rest');
  }

  check(): void {
    const { status, approved, amount: held, captured } = this.there;
    const taken = Math.max(0, captured ?? 0);
    const due = approved && status === 'pending' ? Math.max(held, taken) : taken;
    const charges = this.state?.charges ?? [];
    const booked = bookedMinor(charges);
    assert.equal(booked + (this.state?.uncoveredMinor ?? 0), due, JSON.stringify({ there: this.there, state: this.state }));
    const paid = charges.reduce((sum, { authorizationId, amountMinor }) => sum + (this.decided.get(authorizationId) ? amountMinor : 0), 0);
    assert.equal(paid - this.returned.reduce((sum, { amountMinor }) => sum + amountMinor, 0), booked);
    assert.equal(new Set(this.returned.map(({ transferId }) => transferId)).size, this.returned.length);
    for (const { authorizationId, amountMinor } of charges) {
      const back = this.returned.filter((one) => one.authorizationId === authorizationId).reduce((sum, one) => sum + one.amountMinor, 0);
      assert.ok(back <= (this.decided.get(authorizationId) ? amountMinor : 0));
    }
    assert.ok(charges.length < 70, 'what is refused is not asked again and again');
    assert.equal(new Set(charges.map(({ authorizationId }) => authorizationId)).size, charges.length);
    const made = [...charges.map(({ authorizationId }) => authorizationId), ...this.returned.map(({ transferId }) => transferId)];
    for (const id of made) assert.match(id, /^(authz|txn)_\w{24}yz$/, 'it ends as its account does');
  }

  private ask(number: number, amountMinor: number): void {
    this.turn('request', { ...about, number, amountMinor });
  }

  private decide(approves: boolean): void {
    const { pending, there } = this;
    if (pending === null) return;
    this.pending = null;
    there.decided++;
    if (approves) Object.assign(there, { approved: true, amount: there.amount + pending.amount });
    else if (!there.approved) Object.assign(there, { status: 'closed', amount: pending.amount });
  }

  private issuerState(): AuthorizationState {
    const { status, approved, amount: amountMinor, decided: decidedRequests, captured: capturedMinor } = this.there;
    return { status, approved, amountMinor, capturedMinor, decidedRequests };
  }

  private effectAt(which: number) {
    return [...this.effects.values()][which % Math.max(1, this.effects.size)];
  }

  private end(effect: RecordedEffect & { seen: AuthorizationState | null }, fails: boolean): void {
    this.effects.delete(effect.id);
    const done = (value: unknown) => ({ effectId: effect.id, tookMs: 1, outcome: { kind: 'done', value } });
    const failed = { effectId: effect.id, tookMs: 1, outcome: { kind: 'failed', message: 'away' } };
    if (effect.name === 'look') return this.turn('looked', fails ? failed : done(effect.seen ?? this.issuerState()));
    const { authorizationId } = effect.input;
    // What fails may have been booked.
    if (!this.decided.has(authorizationId)) this.decided.set(authorizationId, this.covers[this.asked++ % this.covers.length]!);
    this.turn(
      'charged',
      fails ? failed : done({ authorizationId, declineReason: this.decided.get(authorizationId) ? null : 'insufficient_funds' }),
    );
  }

  private fire(name: string | undefined): void {
    const command = name === undefined ? undefined : this.timers.get(name);
    if (command === undefined) return;
    this.timers.delete(name!);
    this.turn(command as 'look', {});
  }

  private turn(command: keyof typeof commands, input: unknown): void {
    const ctx = new (class extends RecordedTurn {
      readonly set: [string, string | null][] = [];
      override schedule(...[name, , command]: unknown[] & { 0?: unknown }): void {
        this.set.push([String(name), String(command)]);
      }
      override unschedule(...[name]: unknown[]): void {
        this.set.push([String(name), null]);
      }
    })('iauth_1', this.nowMs);
    this.state = commands[command](this.state, input as never, ctx).state;
    for (const effect of ctx.effects) this.effects.set(effect.id, { ...effect, seen: null });
    for (const [name, due] of ctx.set) due === null ? this.timers.delete(name) : this.timers.set(name, due);
    for (const { input: back } of ctx.messages) {
      const of = this.state!.charges.find(({ authorizationId }) => authorizationId === back.authorizationId)!;
      assert.ok(this.pending === null || of.number !== this.pending.number, 'what is not decided there goes back');
      this.returned.push(back);
    }
  }
}
