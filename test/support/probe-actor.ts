/** The actor for runtime tests: on request it does everything that an actor can do, and fails in every way. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import Type from 'typebox';
import {
  type AnyActor,
  actorRef,
  defineActor,
  type EffectContext,
  type EffectResult,
  type Turn,
  type TurnContext,
} from '../../src/actors/define-actor.ts';
import { AppError } from '../../src/errors.ts';
import { json } from '../../src/storage/column-types.ts';
import type { Json } from './json.ts';

export const ProbeEntity = defineEntity({
  name: 'Probe',
  tableName: 'probe',
  properties: {
    id: p.text().primary(),
    /** Adds up what was added; the database refuses anything over a million. */
    value: p.integer(),
    /** Unique where it is given. */
    name: p.string().length(20).nullable(),
    ratio: p.double().nullable(),
    received: json<unknown[]>(),
    text: p.text(),
    data: json<unknown>(),
    /** Whose effects it runs. */
    accountId: p.text().nullable(),
  },
});
export type ProbeState = InferEntity<typeof ProbeEntity>;

export const ProbeNote = defineEntity({
  name: 'ProbeNote',
  tableName: 'probe_note',
  properties: { id: p.text().primary(), text: p.text() },
});

export const probeTables = [
  'create table probe (id text primary key, value int not null check (value <= 1000000), name varchar(20) unique, ratio float8, received json not null, text text not null, data json not null, account_id text)',
  'create table probe_note (id text primary key, text text not null)',
];

export type ProbeContract = {
  commands: {
    /** Adds, emits an event with the sum, and answers it. */
    add(input: { n: number; account?: string }): number;
    touch(input: null): number;
    /** Refuses where there is something already: also its own earlier turn. */
    create(input: { n: number }): number;
    /** Adds and then refuses, or throws. */
    addAndFail(input: { n: number; how: 'refuse' | 'throw' | 'mutate' | 'async' | 'other id' | 'nothing' }): number;
    /** Refuses when the value is not what it should be. */
    expect(input: { value: number }): number;
    put(input: Partial<ProbeState> & { note?: string }): number;
    receive(input: unknown): null;
    /** As 'receive', but new in this version of the probe: 'olderProbe' does not know it. */
    receiveNew(input: unknown): null;
    send(input: { to: string; inputs: unknown[]; command?: 'receive' | 'receiveNew' }): null;
    /**
     * Takes the input itself and lets each of the others take it in one co-located transaction; then fails, if asked to. Returns what they
     * have taken.
     */
    sendColocated(input: { to: string[]; input: unknown; how?: 'refuse' | 'throw' }): number[];
    count(input: null): number;
    defer(input: { key: string; n: number }): unknown;
    answer(input: { key: string; reply: unknown; refuse?: boolean }): null;
    begin(input: { effect: 'work' | 'mail'; input: object; account?: string }): string;
    end(input: { effectId: string }): null;
    ended(input: EffectResult): null;
    wake(input: { name: string; dueMs: number | null; text?: string; again?: number }): null;
    woke(input: { name: string; text: string; again?: number }): null;
  };
  queries: {
    state(input: null): ProbeState | null;
    fail(input: { how: 'refuse' | 'throw' }): null;
  };
  effects: { work(input: object): unknown; mail(input: object): unknown };
};
export const probe = actorRef<ProbeContract>('probe');

type ProbeEffectContext = Pick<EffectContext, 'effectId' | 'signal' | 'releaseSlot'>;

/** What the probe's effects do; tests put in what they need. */
export const effects = {
  work: async (_input: Json, _context: ProbeEffectContext): Promise<unknown> => null,
  mail: async (_input: Json, _context: ProbeEffectContext): Promise<unknown> => null,
};

/** Called before the probe takes an input; tests make it throw. */
export const receiving = { before(_input: unknown): void {} };

type State = ProbeState | null;

export const probeActor = defineActor<ProbeState, ProbeContract>({
  ref: probe,
  entity: ProbeEntity,
  mailboxLimit: 100,
  sendsBeforeItExists: true,
  commands: {
    add(state, { n, account }, ctx) {
      const value = (state?.value ?? 0) + n;
      ctx.emit({ accountId: account ?? 'acct', type: 'probe.added', data: { id: ctx.id, value, n } });
      return { state: { ...(state ?? blank(ctx.id)), value }, reply: value };
    },
    touch: (state) => ({ state, reply: state?.value ?? 0 }),
    create(state, { n }, ctx) {
      if (state !== null) throw new AppError('conflict', 'It is there already');
      return { state: { ...blank(ctx.id), value: n }, reply: n };
    },
    addAndFail(state, { n, how }, ctx): Turn<State, number> {
      const next = { ...(state ?? blank(ctx.id)), value: (state?.value ?? 0) + n };
      ctx.emit({ accountId: 'acct', type: 'probe.never', data: {} });
      ctx.send(probe, 'other', 'receive', 'never');
      ctx.run('work', { never: true });
      ctx.schedule('never', ctx.nowMs, 'woke', { name: 'never', text: 'never' });
      ctx.append(ProbeNote, { id: `${ctx.id}-never`, text: 'never' });
      if (how === 'refuse') throw new AppError('conflict', 'Refused on purpose');
      if (how === 'mutate') state!.value += n;
      if (how === 'async') return Promise.reject(new Error('asynchronous')) as never;
      if (how === 'other id') return { state: { ...next, id: 'stolen' }, reply: n };
      if (how === 'nothing') return { state: null, reply: n };
      throw new TypeError('thrown on purpose');
    },
    expect(state, { value }) {
      if ((state?.value ?? 0) !== value) throw new AppError('conflict', `It is ${state?.value ?? 0}`);
      return { state, reply: value };
    },
    put(state, { note, ...values }, ctx) {
      if (note !== undefined) ctx.append(ProbeNote, { id: ctx.id, text: note });
      ctx.emit({ accountId: 'acct', type: 'probe.put', data: values });
      return { state: { ...(state ?? blank(ctx.id)), ...values } as ProbeState, reply: 1 };
    },
    receive(state, input, ctx) {
      receiving.before(input);
      if (input === 'throw') throw new TypeError('cannot receive it');
      if (input === 'refuse') throw new AppError('conflict', 'will not receive it');
      const value = input === 'overflow' || (input as { overflow?: boolean } | null)?.overflow === true ? 2_000_000 : (state?.value ?? 0);
      return { state: { ...(state ?? blank(ctx.id)), value, received: [...(state?.received ?? []), input] }, reply: null };
    },
    receiveNew: (state, input, ctx) => ({
      state: { ...(state ?? blank(ctx.id)), received: [...(state?.received ?? []), input] },
      reply: null,
    }),
    send(state, { to, inputs, command = 'receive' }, ctx) {
      for (const input of inputs) ctx.send(probe, to, command, input);
      return { state, reply: null };
    },
    sendColocated(state, { to, input, how }, ctx) {
      const reply = to.map((id) => {
        ctx.callColocated(probe, id, 'receive', input);
        return ctx.callColocated(probe, id, 'count', null);
      });
      if (how === 'refuse') throw new AppError('conflict', 'Refused after all');
      if (how === 'throw') throw new TypeError('thrown after all');
      return { state: { ...(state ?? blank(ctx.id)), received: [...(state?.received ?? []), input] }, reply };
    },
    count: (state) => ({ state, reply: state?.received.length ?? 0 }),
    defer(state, { key, n }, ctx) {
      ctx.defer(key);
      return { state: { ...(state ?? blank(ctx.id)), value: (state?.value ?? 0) + n }, reply: 'not this' };
    },
    answer(state, { key, reply, refuse }, ctx) {
      ctx.answer('defer', key, refuse ? new AppError('conflict', 'Refused later') : reply);
      return { state: { ...(state ?? blank(ctx.id)), text: `answered ${key}` }, reply: null };
    },
    begin(state, { effect, input, account }, ctx) {
      const accountId = account ?? state?.accountId;
      return { state: { ...(state ?? blank(ctx.id)), accountId }, reply: ctx.run(effect, input) };
    },
    end(state, { effectId }, ctx) {
      ctx.cancel(effectId);
      return { state, reply: null };
    },
    ended(state, result, ctx) {
      const { kind } = result.outcome;
      if (kind === 'done' && result.outcome.value === 'poison') throw new TypeError('cannot take it');
      return { state: { ...(state ?? blank(ctx.id)), received: [...(state?.received ?? []), result.outcome] }, reply: null };
    },
    wake(state, { name, dueMs, text = name, again }, ctx) {
      if (dueMs === null) ctx.unschedule(name);
      else ctx.schedule(name, dueMs, 'woke', { name, text, again });
      return { state: state ?? blank(ctx.id), reply: null };
    },
    woke(state, { name, text, again }, ctx) {
      if (again !== undefined && again > 0) ctx.schedule(name, ctx.nowMs, 'woke', { name, text, again: again - 1 });
      return { state: { ...(state ?? blank(ctx.id)), received: [...(state?.received ?? []), text] }, reply: null };
    },
  },
  inputs: { woke: Type.Object({ name: Type.String(), text: Type.String(), again: Type.Optional(Type.Integer()) }) },
  queries: {
    state: (state) => state,
    fail(_state, { how }) {
      if (how === 'refuse') throw new AppError('not_found', 'Refused on purpose');
      throw new TypeError('thrown on purpose');
    },
  },
  effects: {
    work: {
      run: (input, context) => effects.work(input, context),
      repeatable: () => true,
      timeoutMs: 10_000,
      outcome: 'ended',
      input: Type.Object({ never: Type.Optional(Type.Boolean()) }),
    },
    mail: {
      run: (input, context) => effects.mail(input, context),
      repeatable: () => false,
      timeoutMs: 10_000,
      lane: 'vital',
      outcome: 'ended',
    },
  },
});

/** The version of the probe before `receiveNew`, timers and effects came. */
export const olderProbe: AnyActor = {
  ...probeActor,
  commands: { receive: probeActor.commands.receive, touch: probeActor.commands.touch, send: probeActor.commands.send },
  effects: {},
};

export const probeOptions = { entities: [ProbeEntity, ProbeNote], tables: probeTables };

function blank(id: string): ProbeState {
  return { id, value: 0, name: null, ratio: null, received: [], text: '', data: {}, accountId: null } as unknown as ProbeState;
}

export type ProbeContext = TurnContext;
