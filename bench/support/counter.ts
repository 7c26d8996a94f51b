/** The actor the benches ask: a number that counts up. Two tables, so that a bench of memory has a state of the size it speaks of. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { actorRef, defineActor } from '../../src/actors/define-actor.ts';

export const CounterEntity = defineEntity({
  name: 'BenchCounter',
  tableName: 'bench_counter',
  properties: { id: p.text().primary(), accountId: p.text(), value: p.bigint('number'), note: p.text() },
});
type CounterState = InferEntity<typeof CounterEntity>;

export type CounterContract = {
  commands: {
    /** Changes the row and records one event. */
    add(input: { accountId: string }): number;
    /** Goes through the mailbox and changes nothing. */
    touch(input: null): number;
  };
  queries: { value(input: null): number };
};
export const counter = actorRef<CounterContract>('bench_counter');

export const counterActor = defineActor<CounterState, CounterContract>({
  ref: counter,
  entity: CounterEntity,
  commands: {
    add(state, { accountId }, ctx) {
      const value = (state?.value ?? 0) + 1;
      ctx.emit({ accountId, type: 'counter.added', data: { id: ctx.id, value } });
      return { state: { id: ctx.id, accountId, value, note: '' } as CounterState, reply: value };
    },
    touch: (state) => ({ state, reply: state?.value ?? 0 }),
  },
  queries: { value: (state) => state?.value ?? 0 },
});

export const createCounterTable =
  'create table if not exists bench_counter (id text primary key, account_id text not null, value bigint not null, note text not null) with (fillfactor = 50)';
