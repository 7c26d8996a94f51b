/**
 * Renewals with a fake processor, with effects that are late, fail before or after acting, and are repeated, and with changes of plan
 * meanwhile.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { EffectOutcome } from '../../../src/actors/define-actor.ts';
import type { PaidTerm, PaymentProcessor, RenewalOrder } from '../../../src/domains/billing/payments/port.ts';
import { renewalEffects } from '../../../src/domains/billing/renewal/effects.ts';
import type { RenewalRow } from '../../../src/domains/billing/renewal/entity.ts';
import type { RenewalContract } from '../../../src/domains/billing/renewal/messages.ts';
import { renewalActor } from '../../../src/domains/billing/renewal/renewal.ts';
import { AppError } from '../../../src/errors.ts';
import { noLog } from '../../../src/log.ts';
import type { Json } from '../../support/json.ts';
import { type Call, play, type RecordedEffect, type RecordedMessage, RecordedTurn } from '../../support/turn-context.ts';

const dayMs = 86_400_000;
const lengthMs = { monthly: 30 * dayMs, annual: 360 * dayMs };

type Charged = RenewalOrder & { key: string; live: boolean; paid: PaidTerm[] };

/** Charges when a term begins; its calls are done at once, which late and lost answers make no easier. */
class Processor {
  readonly all = new Map<string, Charged>();
  nowMs = 0;
  invoices = 0;

  get live(): Charged[] {
    return [...this.all.values()].filter(({ live }) => live);
  }

  /** Lets time pass. Each term that begins is charged, one at a time. */
  passTo(nowMs: number): void {
    this.nowMs = nowMs;
    for (const charged of this.live) {
      for (;;) {
        const startsAtMs = charged.paid.at(-1)?.endsAtMs ?? charged.startsAtMs;
        if (startsAtMs > nowMs) break;
        const term = { paymentId: `in_${++this.invoices}`, amountMinor: charged.priceMinor, currency: 'usd' };
        charged.paid.push({ ...term, startsAtMs, endsAtMs: startsAtMs + lengthMs[charged.billingPeriod] });
      }
    }
  }

  readonly port: PaymentProcessor = {
    startRenewals: async (order: RenewalOrder, key: string) => {
      const known = [...this.all].find(([, charged]) => charged.key === key);
      if (known !== undefined) return known[0];
      const id = `sub_${this.all.size + 1}`;
      this.all.set(id, { ...order, startsAtMs: Math.max(order.startsAtMs, this.nowMs), key, live: true, paid: [] });
      this.passTo(this.nowMs);
      return id;
    },
    stopRenewals: async (renewalId: string, _payer: object, except: string | null) => {
      const those = [...this.all].filter(([, charged]) => charged.renewalId === renewalId && charged.key !== except);
      for (const [, charged] of those) charged.live = false;
      return Promise.all(those.map(([id]) => this.port.renewals(id)));
    },
    renewals: async (id: string) => {
      const { live, plan, billingPeriod, paid } = this.all.get(id)!;
      return { goesOn: live, isLate: false, plan, billingPeriod, paid: structuredClone(paid) };
    },
  } as unknown as PaymentProcessor;
}

/** A recorded turn that knows its timer. */
class Turn extends RecordedTurn {
  dueMs: number | null = null;
  unscheduled = false;
  override schedule(_name: string, dueMs: number): void {
    this.dueMs = dueMs;
  }
  override unschedule(): void {
    this.unscheduled = true;
    this.dueMs = null;
  }
}

class World {
  readonly processor = new Processor();
  readonly effects = renewalEffects({
    processor: this.processor.port,
    onMismatch: assert.fail,
    log: noLog,
  });
  readonly actor = renewalActor(this.effects);
  readonly pending: RecordedEffect[] = [];
  readonly sent: RecordedMessage[] = [];
  state: RenewalRow | null = null;
  dueMs: number | null = null;
  nowMs = 0;

  runCommand(...[command, input]: Call<RenewalContract>): void {
    const turn = new Turn('cs_1', this.nowMs);
    this.state = play(this.actor, command, this.state, input, turn).state;
    this.pending.push(...turn.effects);
    this.sent.push(...turn.messages);
    this.dueMs = turn.dueMs ?? (turn.unscheduled ? null : this.dueMs);
    assert.ok(this.processor.live.length <= 1, 'never is more than one thing charged');
    const changing = this.pending.filter(({ name }) => name !== 'look');
    assert.ok(changing.length <= 1, 'one effect changes something at a time');
  }

  /** One effect runs: `how` well. */
  async act(at: number, how: 'well' | 'fails' | 'fails after acting' | 'twice'): Promise<void> {
    const effect = this.pending[at % Math.max(1, this.pending.length)];
    if (effect === undefined) return;
    this.processor.nowMs = this.nowMs;
    const run = () =>
      this.effects[effect.name as keyof typeof this.effects]!.run(effect.input, {
        actorId: 'cs_1',
        effectId: effect.id,
        isRepeat: false,
        signal: new AbortController().signal,
        releaseSlot() {},
      });
    let outcome: EffectOutcome = { kind: 'failed', message: new AppError('unavailable', 'away').message };
    if (how !== 'fails') {
      if (how === 'twice') await run();
      const value = await run();
      if (how !== 'fails after acting') outcome = { kind: 'done', value };
    }
    this.pending.splice(this.pending.indexOf(effect), 1);
    const { outcome: command } = this.effects[effect.name as keyof typeof this.effects]!;
    this.runCommand(...([command, { effectId: effect.id, outcome, tookMs: 1 }] as Call<RenewalContract>));
  }

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    while (this.dueMs !== null && this.dueMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.dueMs);
      this.dueMs = null;
      this.processor.passTo(this.nowMs);
      this.runCommand('goOn', {});
      if (this.pending.length > 0) break;
    }
    this.nowMs = Math.max(this.nowMs, Math.min(untilMs, this.dueMs ?? untilMs));
    this.processor.passTo(this.nowMs);
  }

  /** Everything that waits is done, and everything answers. */
  async settle(): Promise<void> {
    for (let step = 0; this.pending.length > 0; step++) {
      assert.ok(step < 100, 'it comes to rest');
      await this.act(0, 'well');
    }
  }
}

const step = fc.oneof(
  fc.record({ choose: fc.constantFrom('free', 'pro', 'power'), billingPeriod: fc.constantFrom('monthly', 'annual') }),
  fc.record({ act: fc.nat(3), how: fc.constantFrom('well', 'well', 'fails', 'fails after acting', 'twice') }),
  fc.record({ days: fc.integer({ min: 0, max: 40 }) }),
  fc.constant({ hint: true }),
  fc.constant({ replace: true }),
);

test('for any changes, losses and repeats, no time is charged twice, and the account gets each paid term once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps: Json[]) => {
      const world = new World();
      const payer = { customer: 'cus_1', method: 'pm_1', payment: 'pi_1' };
      const paidUntilMs = 20 * dayMs;
      world.runCommand('begin', { accountId: 'acct_1', plan: 'pro', billingPeriod: 'monthly', payer, paidUntilMs });
      for (const { choose, billingPeriod, act, how, days, hint, replace } of steps) {
        if (choose !== undefined) world.runCommand('change', { plan: choose, billingPeriod });
        else if (act !== undefined) await world.act(act, how);
        else if (days !== undefined) world.pass(days * dayMs);
        else if (hint) world.runCommand('look', null);
        else if (replace) world.runCommand('replaced', {});
      }
      await world.settle();

      const { status, plan, billingPeriod, failingSince } = world.state!;
      const { live } = world.processor;
      if (status === 'renewing')
        assert.deepEqual(
          live.map((charged) => [charged.plan, charged.billingPeriod]),
          [[plan, billingPeriod]],
        );
      if (status === 'ending') assert.deepEqual(live, []);
      if (status === 'over' && failingSince === null) assert.deepEqual(live, [], 'what is over is charged no more');

      const terms = [...world.processor.all.values()].flatMap(({ paid }) => paid).sort((a, b) => a.startsAtMs - b.startsAtMs);
      let untilMs = paidUntilMs;
      for (const { startsAtMs, endsAtMs } of terms) {
        assert.ok(startsAtMs >= untilMs, 'no time is paid twice');
        untilMs = endsAtMs;
      }
      const reported = world.sent.filter(({ command }) => command === 'periodPaid').map(({ input }) => input.paymentId);
      const charged = terms.map(({ paymentId }) => paymentId);
      assert.deepEqual(reported, charged.slice(0, reported.length));
      if (status === 'ending') assert.deepEqual(reported, charged);
      const ends = world.sent.filter(({ command }) => command === 'subscriptionEnded');
      assert.ok(ends.length <= 1);
      if (ends.length === 1) assert.equal(status, 'over');
    }),
    { numRuns: 400, seed: Number(process.env.SEED ?? Date.now() % 2 ** 31), verbose: 1 },
  );
});
