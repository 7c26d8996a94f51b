/** A deployment whose effects end in any way, with duplicate and late reports, and which is cancelled or times out at any time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { EffectOutcome } from '../../../../src/actors/define-actor.ts';
import { deploymentActor } from '../../../../src/domains/deployments/deployment/deployment.ts';
import type { DeploymentEffects } from '../../../../src/domains/deployments/deployment/effects.ts';
import type { DeploymentRow } from '../../../../src/domains/deployments/deployment/entity.ts';
import { AppError } from '../../../../src/errors.ts';
import type { Json } from '../../../support/json.ts';
import { play, RecordedTurn } from '../../../support/turn-context.ts';

const times = { timeoutMs: 60_000, probeMs: 1_000, secondSearchMs: 120_000 };
const actor = deploymentActor({ effects: {} as DeploymentEffects, shown: ({ status }) => ({ status }), ...times });
const outcomeOf: Record<string, string> = {
  ...{ prepare: 'prepared', build: 'built', publish: 'published', poll: 'polled', probe: 'probed', cancelAtHost: 'cancelledAtHost' },
  removeCopies: 'copiesRemoved',
};

class Turn extends RecordedTurn {
  readonly timers: Map<string, { command: string; input: Json }>;
  constructor(timers: Turn['timers'], nowMs: number) {
    super('dep_1', nowMs);
    this.timers = timers;
  }
  override schedule(name: string, _dueMs: number, command?: string, input?: unknown): void {
    this.timers.set(name, { command: command!, input: input as Json });
  }
  override unschedule(name: string): void {
    this.timers.delete(name);
  }
}

type Started = { id: string; name: string; over: boolean };

/** The runtime as the actor sees it; every message and outcome may come again. */
class World {
  state: DeploymentRow | null = null;
  nowMs = 0;
  readonly timers: Turn['timers'] = new Map();
  readonly effects: Started[] = [];
  readonly events: string[] = [];
  /** What the host has made, as its publications named it. */
  readonly made: string[] = [];
  mayBeMade = false;

  take(command: string, input: unknown): unknown {
    const ctx = new Turn(this.timers, ++this.nowMs);
    const before = this.state;
    const { state, reply } = play(actor, command, before, input, ctx);
    this.state = state;
    for (const id of ctx.cancelled) this.effects.find((one) => one.id === id)!.over = true;
    this.effects.push(...ctx.effects.map(({ id, name }) => ({ id, name, over: false })));
    if (ctx.effects.some(({ name }) => name === 'publish')) this.mayBeMade = true;
    this.events.push(...ctx.events.map(({ type }) => type).filter((type) => type !== 'deployment.log'));
    for (const message of ctx.messages) this.take(message.command, message.input);
    this.check();
    return reply;
  }

  get running(): Started[] {
    return this.effects.filter(({ over }) => !over);
  }

  check(): void {
    const { state, events } = this;
    assert.ok(this.running.length <= 1, 'D1: one effect at a time');
    assert.equal(state!.effectId, this.running[0]?.id ?? null, 'D1');
    const names = events.map((type) => type.slice('deployment.'.length));
    const end = ['live', 'failed'].includes(state!.status) ? [state!.status] : [];
    const walk = [...['building', 'deploying'].filter((name) => names.includes(name)), ...end];
    assert.deepEqual(names, walk, 'D2: each event once, in order');
    if (this.running[0]?.name === 'poll') assert.notEqual(state!.providerId, null, 'D3');
    if (end.length === 0) return assert.ok(this.timers.has('deadline'));
    const left = [...this.timers.keys()].filter((name) => name !== 'second look');
    assert.deepEqual(left, [], 'D4: no timer is left');
    assert.ok(['cancelAtHost', 'removeCopies', undefined].includes(this.running[0]?.name), 'D4: nothing runs');
    assert.equal(state!.config === null, this.running[0]?.name !== 'cancelAtHost', 'D5');
    assert.equal(state!.errorCode === null, state!.status === 'live');
    assert.notEqual(state!.completedAt, null);
  }
}

const site = { snapshotId: 'snap_1', files: 1, bytes: 2 };
const values: Record<string, unknown[]> = {
  prepare: [
    { kind: 'prepared', config: { id: 'cfg_1', credentials: 'x' }, snapshot: site, site },
    { kind: 'prepared', config: { id: 'cfg_1', credentials: 'x' }, snapshot: site, site: null },
  ],
  build: [{ kind: 'built', site: { ...site, snapshotId: 'snap_2' } }],
  publish: [
    { kind: 'published', providerId: 'at-host-1' },
    { kind: 'published', providerId: 'at-host-1', isDoubtful: true },
  ],
  poll: [
    { kind: 'working', detail: 'QUEUED', isNews: true, polls: 0 },
    { kind: 'live', url: 'http://site' },
    { kind: 'ended', code: 'alias_failed', message: 'no alias' },
  ],
  probe: [{ kind: 'answered', status: 200 }],
  cancelAtHost: [{ kind: 'cancelled', providerId: 'at-host-1' }, { kind: 'nothing' }],
  removeCopies: [
    { kind: 'looked', kept: 'at-host-1', removed: [] },
    { kind: 'looked', kept: 'at-host-2', removed: ['at-host-1'] },
  ],
};

type Step =
  | { do: 'outcome'; pick: number; how: 'done' | 'failed' | 'thrown' | 'unknown'; again: boolean }
  | { do: 'old outcome'; pick: number }
  | { do: 'created' | 'logged'; old: boolean }
  | { do: 'cancel' | 'timer' | 'create' | 'begin' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('outcome' as const),
      pick: fc.nat(3),
      how: fc.constantFrom('done' as const),
      again: fc.boolean(),
    }),
  },
  fc.record({
    ...{ do: fc.constant('outcome' as const), pick: fc.nat(3), again: fc.boolean() },
    how: fc.constantFrom('failed' as const, 'thrown' as const, 'unknown' as const),
  }),
  fc.record({ do: fc.constant('old outcome' as const), pick: fc.nat(9) }),
  fc.record({ do: fc.constantFrom('created' as const, 'logged' as const), old: fc.boolean() }),
  fc.record({
    do: fc.constantFrom('cancel' as const, 'timer' as const, 'timer' as const, 'timer' as const, 'create' as const, 'begin' as const),
  }),
);

function run(world: World, one: Step, create: object): void {
  const [effect] = world.running;
  if (one.do === 'create') world.take('create', create);
  if (one.do === 'begin') world.take('begin', {});
  if (one.do === 'timer') {
    const [name, timer] = [...world.timers].at(-1) ?? [];
    // The deadline is far: it comes where nothing else is due.
    if (timer !== undefined && (name !== 'deadline' || effect === undefined)) {
      if (name !== 'deadline') world.timers.delete(name!);
      world.take(timer.command, timer.input);
    }
  }
  if (one.do === 'cancel') {
    const hadEnded = ['live', 'failed'].includes(world.state!.status);
    try {
      world.take('cancel', null);
      assert.equal(hadEnded, false);
    } catch (error) {
      assert.ok(hadEnded && error instanceof AppError && error.code === 'conflict', String(error));
    }
  }
  if (one.do === 'created' || one.do === 'logged') {
    const publications = world.effects.filter(({ name }) => name === 'publish');
    const from = one.old ? publications.find(({ over }) => over) : effect?.name === 'publish' ? effect : undefined;
    if (from === undefined) return;
    const input =
      one.do === 'created'
        ? { effectId: from.id, providerId: 'at-host-1' }
        : { effectId: from.id, lines: [{ at: 1, source: 'troupe', text: 'x' }] };
    assert.equal(world.take(one.do, input), !from.over);
  }
  if (one.do === 'old outcome') {
    const over = world.effects.filter((held) => held.over);
    const old = over[one.pick % Math.max(1, over.length)];
    if (old !== undefined)
      world.take(outcomeOf[old.name]!, { effectId: old.id, outcome: { kind: 'done', value: values[old.name]![0] }, tookMs: 1 });
  }
  if (one.do === 'outcome' && effect !== undefined) {
    const given = values[effect.name]!;
    const outcome: EffectOutcome = {
      done: { kind: 'done' as const, value: given[one.pick % given.length] },
      failed: { kind: 'done' as const, value: { kind: 'failed', code: 'quota', message: 'no more' } },
      thrown: { kind: 'failed' as const, message: 'It failed unexpectedly' },
      unknown: { kind: 'unknown' as const },
    }[one.how];
    effect.over = true;
    world.take(outcomeOf[effect.name]!, { effectId: effect.id, outcome, tookMs: 1 });
    if (one.again) world.take(outcomeOf[effect.name]!, { effectId: effect.id, outcome, tookMs: 1 });
  }
}

test('for any sequence of events, a deployment keeps D1 to D6 and ends', () => {
  fc.assert(
    fc.property(fc.constantFrom('live' as const, 'test' as const), fc.array(step, { maxLength: 40 }), (mode, steps) => {
      const create = { accountId: 'acct_1', mode, workspaceId: 'ws_1', target: 'vercel', configId: null, taskId: null };
      const world = new World();
      world.take('create', create);
      for (const one of steps) run(world, one, create);
      // Time advances: pending requests get no answer, and the deadline passes.
      if (!['live', 'failed'].includes(world.state!.status)) world.take('timedOut', {});
      if (world.running[0] !== undefined) run(world, { do: 'outcome', pick: 0, how: 'done', again: true }, create);
      assert.deepEqual([world.running, world.state!.config], [[], null], 'nothing is left under way');
      const { status, errorCode } = world.state!;
      const searches = () => world.effects.filter(({ name }) => name === 'removeCopies').length;
      const [before, searchesAgain] = [searches(), world.timers.has('second look')];
      if (searchesAgain) run(world, { do: 'timer' }, create);
      if (world.running[0] !== undefined) run(world, { do: 'outcome', pick: 1, how: 'done', again: true }, create);
      assert.deepEqual([searches() - before, [...world.timers.keys()]], [searchesAgain ? 1 : 0, []], 'D6: one search, after the end');
      if (status === 'failed' && errorCode === 'cancelled' && world.mayBeMade && world.state!.providerId === null)
        assert.ok(searches() > 0, 'D6: what may be created after a cancellation is searched for');
      const stopped = status === 'failed' && (errorCode === 'cancelled' || errorCode === 'timed_out');
      const asked = world.effects.filter(({ name }) => name === 'cancelAtHost').length;
      if (stopped && world.mayBeMade) assert.equal(asked, 1, 'D4: what may have been created is cancelled at the host, once');
      if (mode === 'test') assert.deepEqual([world.mayBeMade, asked], [false, 0]);
      assert.ok(asked <= 1);
    }),
    { numRuns: 300 },
  );
});
