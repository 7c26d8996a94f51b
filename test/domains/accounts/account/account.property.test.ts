/**
 * An account under any order of messages from its tasks and an operator, over months. Its tasks are simple models: they wait, begin,
 * request slots, use credits and end, and use the last reply. Messages of one sender to one receiver stay in order.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import type { AccountRow } from '../../../../src/domains/accounts/account/entity.ts';
import { type AccountContract, placeName } from '../../../../src/domains/accounts/account/messages.ts';
import { limitIsReached, usageSummaryOf } from '../../../../src/domains/accounts/account/usage.ts';
import type { TaskContract } from '../../../../src/domains/tasks/task/messages.ts';
import type { Overrides } from '../../../../src/storage/account-overrides.ts';
import { type Call, play, RecordedTurn } from '../../../support/turn-context.ts';

const actor = accountActor({ startedTasks: null as never });
const dayMs = 86_400_000;
type ToTask = [id: string, ...Call<TaskContract>];

class SimpleTask {
  status: 'pending' | 'started' | 'ended' = 'pending';
  limitReached = false;
  waitingFor: string | null = null;
  asked = 0;
  workedMs = 0;
  readonly places = new Map<string, 'asked' | 'held'>();
}

class Months {
  nowMs = Date.parse('2026-01-31T12:00:00Z');
  account: AccountRow | null = null;
  readonly tasks = new Map<string, SimpleTask>();
  readonly toAccount: Call<AccountContract>[] = [];
  readonly toTasks: ToTask[] = [];
  /** Ids read by a scan of the started tasks that are not notified yet. */
  readonly reads: { ids: string[]; areAll: boolean }[] = [];
  readsRequested = 0;
  arrived: string[] = [];
  begun: string[] = [];
  limit = 2;
  used = { tasks: 0, tokens: 0 };
  /** The stored working times: one row for each agent and period. */
  readonly agentUsage = new Map<string, { agentId: string; periodStartsAt: number; workedMs: number }>();

  runCommand(...[command, input]: Call<AccountContract>): void {
    const before = this.account;
    const ctx = new RecordedTurn('acct_1', this.nowMs);
    const { state } = play(actor, command, before, structuredClone(input), ctx);
    this.account = state;
    if (before !== null && before.periodStartsAt !== state.periodStartsAt) {
      assert.ok(before.periodEndsAt <= this.nowMs, 'no period begins before its time');
      this.used = { tasks: 0, tokens: 0 };
    }
    if (command === 'taskWaits') this.arrived.push(input.taskId);
    if (command === 'taskEnded' && input.started) this.used.tasks++;
    if (command === 'used') this.used.tokens += input.tokens;
    for (const { kind, id, command: what, input: sent } of ctx.messages) {
      if (kind === 'account') this.toAccount.push([what, sent] as Call<AccountContract>);
      else this.toTasks.push([id, what, sent] as ToTask);
      if (what === 'begin') this.begun.push(id);
    }
    if (command === 'used' && limitIsReached(state)) {
      const [first] = ctx.messages;
      assert.deepEqual(
        [first?.command, first?.input.reached],
        ['planLimit', true],
        'a task knows of a limit before it grants one more turn',
      );
    }
    this.readsRequested += ctx.effects.length;
    for (const row of ctx.rows) if ('agentId' in row) this.agentUsage.set(`${row.agentId} ${row.periodStartsAt}`, row);
    this.checkInvariants(before);
  }

  checkInvariants(before: AccountRow | null): void {
    const { taskPlaces, agentPlaces, tasksUsed, tokensUsed, limitReached, periodEndsAt } = this.account!;
    assert.ok(taskPlaces.held <= Math.max(this.limit, before?.taskPlaces.held ?? 0), 'no more tasks than allowed are let in');
    assert.ok(agentPlaces.held <= Math.max(this.limit, before?.agentPlaces.held ?? 0), 'no more agents than allowed are let in');
    assert.deepEqual([tasksUsed, tokensUsed], [this.used.tasks, this.used.tokens], 'reported usage is counted in the period of its report');
    assert.equal(this.account!.workedMs, this.breakdownMs(), 'the total is what its agents have worked in the period, each of them');
    assert.equal(limitReached, limitIsReached(this.account!));
    assert.ok(this.nowMs < periodEndsAt);
    assert.deepEqual(
      this.begun,
      this.arrived.filter((id) => this.begun.includes(id)),
      'first come, first served',
    );
    assert.ok(usageSummaryOf(this.account!, this.nowMs).creditsRemaining >= 0);
    if (!limitReached && taskPlaces.waiting.length > 0) assert.ok(taskPlaces.held >= this.limit, 'nobody waits beside a free place');
  }

  /** The usage of a period as it is reported: earlier work of an agent is in an earlier row. */
  breakdownMs(): number {
    const rows = [...this.agentUsage.values()];
    const startsAt = this.account!.periodStartsAt;
    const earlier = ({ agentId }: { agentId: string }) =>
      rows.filter((row) => row.agentId === agentId && row.periodStartsAt < startsAt).map(({ workedMs }) => workedMs);
    return rows
      .filter(({ periodStartsAt }) => periodStartsAt === startsAt)
      .reduce((sum, row) => sum + row.workedMs - Math.max(0, ...earlier(row)), 0);
  }

  create(): void {
    const id = `task_${String(this.tasks.size).padStart(3, '0')}`;
    this.tasks.set(id, new SimpleTask());
    this.toAccount.push(['taskWaits', { taskId: id }]);
  }

  turnOfTask([id, command, input]: ToTask): void {
    const task = this.tasks.get(id)!;
    if (task.status === 'ended') return;
    if (command === 'begin') {
      assert.equal(task.status, 'pending', 'a task is started once');
      task.status = 'started';
      this.toAccount.push(['planned', { taskId: id, tokens: 0 }]);
    } else if (command === 'planLimit') task.limitReached = input.reached;
    else if (command === 'mustWait' && task.status === 'pending') task.waitingFor = input.waitingFor.kind;
    else if (command === 'placeGiven' && task.places.has(input.place)) task.places.set(input.place, 'held');
  }

  end(id: string): void {
    const task = this.tasks.get(id)!;
    if (task.status === 'ended') return;
    this.toAccount.push(['taskEnded', { taskId: id, started: task.status === 'started', places: [...task.places.keys()] }]);
    task.status = 'ended';
    task.places.clear();
  }

  ask(id: string): void {
    const task = this.tasks.get(id)!;
    if (task.status !== 'started') return;
    const place = placeName(id, ++task.asked);
    task.places.set(place, 'asked');
    this.toAccount.push(['agentWaits', { place }]);
  }

  rest(id: string): void {
    const task = this.tasks.get(id)!;
    const [place] = task.places.keys();
    if (place === undefined) return;
    task.places.delete(place);
    this.toAccount.push(['agentRests', { place }]);
  }

  setLimits(limit: number, tasksLimit: number): void {
    this.limit = limit === -1 ? Infinity : limit;
    const overrides = {
      plan: 'pro',
      concurrentTasks: limit,
      concurrentAgents: limit,
      tasksLimit,
      credits: 1,
      agentMinutes: -1,
    } as Overrides;
    this.runCommand('limitsChanged', { overrides, changedAtMs: this.nowMs });
  }

  use(id: string, tokens: number): void {
    const task = this.tasks.get(id)!;
    if (task.status !== 'started') return;
    const workedMs = tokens % 7;
    task.workedMs += workedMs;
    const agent = workedMs === 0 ? null : { id: `agnt_of_${id}`, name: 'worker', workedMs: task.workedMs };
    this.toAccount.push(['used', { place: placeName(id, 1), tokens, workedMs, agent }]);
  }

  /** A message in transit arrives; started tasks are notified later than they are read. */
  deliver(which: number): void {
    if (this.readsRequested > 0 && which % 3 === 0) {
      this.readsRequested--;
      const started = [...this.tasks].filter(([, task]) => task.status === 'started').map(([id]) => id);
      this.reads.push({ ids: started, areAll: true });
    } else if (this.reads.length > 0 && which % 5 === 0) {
      const value = this.reads.splice(which % this.reads.length, 1)[0]!;
      this.runCommand('tellTasks', { effectId: 'eff_1', outcome: { kind: 'done', value }, tookMs: 1 });
    } else if (this.toAccount.length > 0 && which % 2 === 0) this.runCommand(...this.toAccount.shift()!);
    else if (this.toTasks.length > 0) this.turnOfTask(this.toTasks.shift()!);
  }

  get isQuiet(): boolean {
    return this.toAccount.length + this.toTasks.length + this.reads.length + this.readsRequested === 0;
  }

  settle(): void {
    for (let n = 0; !this.isQuiet; n++) this.deliver(n);
  }

  assertAgreed(): void {
    const started = [...this.tasks.values()].filter((task) => task.status === 'started');
    const { taskPlaces, agentPlaces, limitReached } = this.account!;
    assert.equal(taskPlaces.held, started.length, 'each place is held by one task');
    const pending = [...this.tasks].filter(([, task]) => task.status === 'pending').map(([id]) => id);
    assert.deepEqual([...taskPlaces.waiting].sort(), pending);
    for (const id of pending)
      assert.equal(this.tasks.get(id)!.waitingFor, limitReached ? 'plan_limit' : 'concurrency', 'who waits to begin knows why');
    const places = started.flatMap((task) => [...task.places]);
    assert.equal(agentPlaces.held, places.filter(([, state]) => state === 'held').length);
    assert.deepEqual([...agentPlaces.waiting].sort(), places.flatMap(([name, state]) => (state === 'asked' ? [name] : [])).sort());
    for (const task of started) assert.equal(task.limitReached, limitReached, 'who works knows whether a limit is reached');
  }
}

test('for any order of messages: first come, first served, within the limits, no request is lost, and usage is counted once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(99), fc.nat(999)), { maxLength: 300, size: 'max' }), (steps) => {
      const months = new Months();
      months.setLimits(2, -1);
      months.create();
      for (const [what, which] of steps) {
        const id = [...months.tasks.keys()][which % months.tasks.size]!;
        if (what < 50) months.deliver(which);
        else if (what < 65) months.create();
        else if (what < 75) months.end(id);
        else if (what < 85) months.ask(id);
        else if (what < 90) months.rest(id);
        else if (what < 93) months.use(id, which);
        else if (what < 96) months.setLimits([1, 2, 5, -1][which % 4]!, [0, 1, 3, -1][(which % 4) ^ 1]!);
        else if (what < 98) months.nowMs += (which % 40) * dayMs;
        else months.runCommand('beginPeriod', {});
        if (what === 99) {
          months.settle();
          months.assertAgreed();
        }
      }
      months.settle();
      months.assertAgreed();
      for (const id of months.tasks.keys()) months.end(id);
      months.settle();
      months.assertAgreed();
      const { taskPlaces, agentPlaces } = months.account!;
      assert.deepEqual(
        [taskPlaces, agentPlaces],
        [
          { held: 0, waiting: [] },
          { held: 0, waiting: [] },
        ],
        'no place is left behind',
      );
    }),
    { numRuns: Number(process.env.RUNS ?? 300) },
  );
});

test('an upgrade applies at once, a downgrade from the next period on, also after missed periods; each emits an event', () => {
  const months = new Months();
  const changes: object[] = [];
  const turn = (command: 'changePlan' | 'beginPeriod', input: object) => {
    const ctx = new RecordedTurn('acct_1', months.nowMs);
    const paid = { billingPeriod: 'monthly', amountMinor: 14_900, paymentId: 'cs_1', processorId: null };
    months.account = play(actor, command, months.account, { ...paid, ...input }, ctx).state as AccountRow;
    changes.push(...ctx.events.filter(({ type }) => type === 'plan.changed').map(({ type, data }) => ({ type, ...data })));
    return months.account!;
  };
  assert.equal(turn('changePlan', { plan: 'power' }).plan, 'power');
  const waiting = turn('changePlan', { plan: 'free' });
  assert.deepEqual([waiting.plan, waiting.pendingPlan], ['power', 'free']);
  assert.equal(turn('changePlan', { plan: 'power' }).pendingPlan, null, 'staying withdraws it');
  turn('changePlan', { plan: 'pro' });
  months.nowMs += 100 * dayMs;
  assert.equal(usageSummaryOf(months.account!, months.nowMs).plan, 'pro', 'shown before anything has woken it');
  const next = turn('beginPeriod', {});
  assert.deepEqual([next.plan, next.pendingPlan], ['pro', null]);
  assert.deepEqual(changes, [
    { type: 'plan.changed', plan: 'power', previous_plan: 'free' },
    { type: 'plan.changed', plan: 'pro', previous_plan: 'power' },
  ]);
});
