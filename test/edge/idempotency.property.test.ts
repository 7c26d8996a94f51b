/**
 * Random sequences of requests under a few Idempotency-Keys, at two processes that share their actors: handlers that refuse before or
 * after their command, callers that give up, commits that are late, lost or cut, keys that are taken over from who still runs, crashes
 * between any two steps. In all cases one key has one effect, and after its answer is known every repeat gets it. FAST_CHECK_SEED
 * repeats a failing case.
 */

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { tasksIds } from '../../src/domains/tasks/ids.ts';
import { commandIds, createIdempotency } from '../../src/edge/idempotency.ts';
import { AppError, errorCodes } from '../../src/errors.ts';
import { noLog } from '../../src/log.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';
import { Secrets } from '../../src/storage/secrets.ts';
import { HandClock, secretKey } from '../support/identity-node.ts';
import { probe } from '../support/probe-actor.ts';
import { proxiedNode } from '../support/proxied-node.ts';
import type { TestRuntime } from '../support/runtime.ts';
import type { Held, TcpProxy } from '../support/tcp-proxy.ts';

const crashPoints = ['reserved', 'before the ask', 'after the ask', 'before it is kept', 'before it is freed', 'kept', 'freed'] as const;
type CrashPoint = (typeof crashPoints)[number];

const request = fc.record({
  do: fc.constant('request' as const),
  key: fc.constantFrom('k', 'l'),
  at: fc.constantFrom(0, 1),
  refuses: fc.constantFrom(null, null, null, 'before' as const, 'after' as const),
  gaveUpAfterMs: fc.constantFrom(60, 60, 5_000),
  crashesAt: fc.option(fc.constantFrom(...crashPoints), { freq: 6 }),
  /** Whether the next step waits for its end. */
  awaited: fc.boolean(),
});
const step = fc.oneof(
  { weight: 10, arbitrary: request },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hold' as const), way: fc.constantFrom('to server' as const, 'to client' as const) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'release' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cut' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'let 15 seconds pass' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Request = Extract<Step, { do: 'request' }>;
type Answer = { status: number; text: string };

const commits = /^troupe commit/;
const dead = () => new Promise<never>(() => {});
let runs = 0;

/** One run of the property: two processes, which crash together, and the answers of their callers. */
class World {
  readonly run = ++runs;
  readonly answers = new Map<string, string>();
  readonly made = new Map<string, Set<string>>();
  private readonly node: TestRuntime;
  private readonly proxy: TcpProxy;
  private readonly clock = new HandClock();
  private readonly secrets = new Secrets(secretKey);
  private processes = this.start(0);
  private crashing: Promise<void> | null = null;
  private crashed = Promise.withResolvers<void>();
  private readonly open = new Set<Promise<unknown>>();
  private held: Held | null = null;

  constructor(node: TestRuntime, proxy: TcpProxy) {
    this.node = node;
    this.proxy = proxy;
  }

  async play(steps: Step[]): Promise<void> {
    for (const one of steps) {
      if (one.do === 'request') {
        const answered = this.request(one);
        this.open.add(answered);
        void answered.finally(() => this.open.delete(answered));
        if (one.awaited) await this.orCrash(answered);
      } else if (one.do === 'hold') this.held ??= this.proxy.hold(commits, one.way);
      else if (one.do === 'release') this.release();
      else if (one.do === 'cut') {
        this.held?.drop();
        this.held = null;
        this.proxy.cut(commits);
      } else if (one.do === 'let 15 seconds pass') this.clock.advance(15_000);
      else await this.crash();
    }
    this.release();
    while (this.open.size > 0) await this.orCrash(Promise.all(this.open));
    for (const process of this.processes) process.crashesAt = null;
    for (const key of ['k', 'l'] as const) await this.untilAnswered(key);
  }

  /** What crashes is never answered. */
  private async orCrash(answered: Promise<unknown>): Promise<void> {
    await Promise.race([answered, this.crashed.promise]);
    await this.crashing;
  }

  private release(): void {
    this.held?.release();
    this.held = null;
  }

  /** Only a dead process may leave a caller without an answer. */
  private async untilAnswered(key: Request['key']): Promise<void> {
    const plain: Request = { do: 'request', key, at: 0, refuses: null, gaveUpAfterMs: 5_000, crashesAt: null, awaited: true };
    for (let tries = 0; (await this.request(plain)).status !== 201; tries++) {
      assert.ok(tries < 5, `${key} is not answered`);
      this.clock.advance(15_000);
    }
    const ids = [...(this.made.get(key) ?? [])];
    const rows = await this.node.sql('select id from probe where id = any($1)', [ids]);
    assert.deepEqual(rows, [{ id: JSON.parse(this.answers.get(key)!).id }], `the effects under ${key}`);
  }

  private async request(one: Request): Promise<Answer> {
    const { key } = one;
    const known = this.answers.get(key);
    const process = this.processes[one.at]!;
    const answer = await process.serve(one);
    if (answer.status === 201) {
      const first = this.answers.get(key) ?? answer.text;
      assert.equal(answer.text, first, `the answer under ${key}`);
      this.answers.set(key, first);
    } else if (answer.status === 409) assert.match(answer.text, /still running/, 'no conflict with its own effect');
    else assert.equal(known, undefined, `${key} was answered before, and now ${answer.status} ${answer.text}`);
    return answer;
  }

  private crash(): Promise<void> {
    this.crashing ??= (async () => {
      for (const process of this.processes) process.isDead = true;
      // Callers that wait for their answers get none.
      this.open.clear();
      this.crashed.resolve();
      await this.node.crashAndRestart();
      this.processes = this.start(this.processes[0]!.generation + 1);
      this.crashed = Promise.withResolvers();
      this.crashing = null;
    })();
    return this.crashing;
  }

  private start(generation: number): Process[] {
    return [0, 1].map((at) => new Process(this, `${this.run}/${at}/${generation}`, generation));
  }

  /** What a process of this world is made of. */
  parts() {
    const { node, clock, secrets } = this;
    return { node, clock, secrets, crash: () => void this.crash(), alive: () => this.processes.map(({ incarnation }) => incarnation) };
  }
}

class Process {
  isDead = false;
  readonly incarnation: string;
  readonly generation: number;
  private readonly world: World;
  crashesAt: CrashPoint | null = null;
  private around: ReturnType<typeof createIdempotency> | null = null;

  constructor(world: World, incarnation: string, generation: number) {
    this.world = world;
    this.incarnation = incarnation;
    this.generation = generation;
  }

  /** Answers as the router would. Never, once it is dead. */
  async serve(one: Request): Promise<Answer> {
    const accountId = `acct_${this.world.run}`;
    const context = {
      request: { has: () => true, header: () => one.key, method: 'POST', path: '/work', queryString: '' },
      principal: { accountId, mode: 'live' },
      route: { path: '/work', scope: 'tasks.write' },
      body: { key: one.key },
      reservation: null,
      requestId: 'req_1',
    };
    this.crashesAt ??= one.crashesAt;
    this.around ??= this.open();
    let answer: Answer;
    try {
      const { status, json } = (await this.around(context as never, () => this.handle(one, context as never))) as any;
      answer = { status, text: JSON.stringify(json) };
    } catch (error) {
      if (!(error instanceof AppError) && !this.isDead) throw error;
      answer = { status: errorCodes[(error as AppError).code].http, text: (error as AppError).message };
    }
    return this.isDead ? dead() : answer;
  }

  private async handle(one: Request, context: never): Promise<any> {
    const { node } = this.world.parts();
    const { id, commandId } = commandIds(context, tasksIds.task);
    const made = this.world.made.get(one.key) ?? new Set();
    this.world.made.set(one.key, made.add(id));
    if (one.refuses === 'before') throw new AppError('rate_limited', 'Too many');
    await this.passes('before the ask');
    const reply = await node.actors.ask(probe, id, 'create', { n: 1 }, { commandId, timeoutMs: one.gaveUpAfterMs });
    await this.passes('after the ask');
    if (one.refuses === 'after') throw new AppError('not_found', 'Gone in between');
    return { status: 201, json: { id, reply } };
  }

  private open() {
    const { node, clock, secrets, alive } = this.world.parts();
    const keys = new IdempotencyKeys(node.database, clock, { incarnation: this.incarnation, isAlive: (other) => alive().includes(other) });
    const { reserve, keep, free } = keys;
    keys.reserve = async (...input) => {
      const reserved = await reserve.apply(keys, input);
      if (reserved.kind === 'mine') await this.passes('reserved');
      return reserved;
    };
    keys.keep = async (...input) => {
      await this.passes('before it is kept');
      await keep.apply(keys, input);
      await this.passes('kept');
    };
    keys.free = async (...input) => {
      await this.passes('before it is freed');
      await free.apply(keys, input);
      await this.passes('freed');
    };
    return createIdempotency({ keys, secrets, log: noLog, repeating: (commandIds) => node.actors.repeated.begin(commandIds) });
  }

  /** Continues, unless the process dies here or is dead. */
  private async passes(point: CrashPoint): Promise<void> {
    if (!this.isDead && this.crashesAt === point) this.world.parts().crash();
    if (this.isDead) await dead();
  }
}

test('under one key there is one effect, despite late, lost, refused, repeated and killed requests, and every repeat gets its answer', {
  timeout: 240_000,
}, async (t) => {
  const { node, proxy } = await proxiedNode(t);
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }), (steps) =>
    new World(node, proxy).play(steps),
  );
  await fc.assert(property, { numRuns: 20, seed: Number(process.env.FAST_CHECK_SEED) || undefined });
});
