/**
 * What an actor is: its kind, the entity that is its durable state, and what may be done to it. A definition is data and plain
 * synchronous functions; the runtime does the rest. Commands return the next state and the reply, and *record* on the context what must
 * follow; the commit makes it true.
 */
import type { EntitySchema, InferEntity } from '@mikro-orm/core';
import type { TSchema } from 'typebox';
import type { AppError } from '../errors.ts';
import type { IdPrefix } from '../ids.ts';
import type { AnyEntity } from '../storage/database.ts';
import type { DurableInputs } from './durable-input.ts';

/** What can be asked of a kind of actor: function types by name, each from its input to its reply. */
export type Contract = {
  commands: Record<string, (input: any) => unknown>;
  queries: Record<string, (input: any) => unknown>;
  /** Calls to the outside world: from the input of a run to the value of its outcome. */
  effects?: Record<string, (input: any) => unknown>;
};

/** Names a kind of actor together with its contract, so that asking and sending are checked by the compiler. */
export type ActorRef<C extends Contract> = { readonly kind: string; readonly versions?: InputVersions<C>; readonly contract?: C };
/** The version of each command's input where it is not 1. A message or timer whose version a node does not know waits for one that does. */
export type InputVersions<C extends Contract> = { readonly [K in keyof C['commands']]?: number };

export function actorRef<C extends Contract>(kind: string, versions?: InputVersions<C>): ActorRef<C> {
  return versions === undefined ? { kind } : { kind, versions };
}

/** A turn's outcome. Return the state you were given to change nothing. */
export type Turn<S, R> = { state: S; reply: R };

/**
 * The outcome of an effect, for its actor. `unknown`: it had begun and must not be repeated blindly, but its result is not known: the process that
 * ran it died, its time was up, or it failed unexpectedly.
 */
export type EffectOutcome<V = unknown> =
  | { kind: 'done'; value: V }
  /** `abandoned`: it was begun several times, and each time the process that ran it ended. It must not be requested again. */
  | { kind: 'failed'; message: string; abandoned?: true }
  | { kind: 'unknown' };
/** `tookMs`: how long the run took that had this outcome. */
export type EffectResult<V = unknown> = { effectId: string; outcome: EffectOutcome<V>; tookMs: number };

export type NewEvent = { accountId: string; type: string; taskId?: string; data: object };

/** All a turn may do besides returning its state. Nothing here happens before the commit. */
export interface TurnContext<Own extends Contract = any> {
  /** The actor's own id. */
  readonly id: string;
  readonly nowMs: number;
  /** `owner`: as `newId` takes it. */
  newId<P extends IdPrefix>(prefix: P, owner: string | null): `${P}${string}`;
  /** Appends an event to its account's stream. */
  emit(event: NewEvent): void;
  /** Sends a durable message: it takes effect exactly once, also when this or the receiving node dies. Messages of one turn arrive in order. */
  send<C extends Contract, K extends keyof C['commands'] & string>(
    to: ActorRef<C>,
    id: string,
    command: K,
    input: Parameters<C['commands'][K]>[0],
  ): void;
  /**
   * Co-located transaction: runs a command of another actor at once, on its newest state, and returns the reply. The changes of both are
   * committed together or not at all. The other actor must live on the same shard (`idBeside`), and its command may neither call a further
   * actor nor defer its caller. Throws what that command throws, which then has changed nothing.
   */
  callColocated<C extends Contract, K extends keyof C['commands'] & string>(
    to: ActorRef<C>,
    id: string,
    command: K,
    input: Parameters<C['commands'][K]>[0],
  ): ReturnType<C['commands'][K]>;
  /** Starts an effect of this actor's definition; its outcome arrives as the effect's `outcome` command. Returns the effect's id. */
  run<E extends keyof Effects<Own> & string>(effect: E, input: Input<Effects<Own>[E]>): string;
  /** Ends an effect that runs; its outcome will not arrive. */
  cancel(effectId: string): void;
  /** Sets the timer of this name, or moves it; when it is due, `command` arrives with `input`. */
  schedule<K extends keyof Own['commands'] & string>(name: string, dueMs: number, command: K, input: Input<Own['commands'][K]>): void;
  unschedule(name: string): void;
  /** Writes a row of a history or a list that belongs to this actor (inserted, or replaced by primary key; one of a read-only entity is never replaced: there already, it fails the turn). */
  append<E extends EntitySchema<any>>(entity: E, row: InferEntity<E>): void;
  /** Defers the reply of this turn: the caller is answered by a later turn's `answer` with the same key, or when its deadline has passed. */
  defer(key: string): void;
  /** Answers the callers that this command deferred under this key, after this turn's commit. No waiting caller is no error. */
  answer<K extends keyof Own['commands'] & string>(command: K, key: string, reply: Reply<Own['commands'][K]> | AppError): void;
}

export type EffectContext = {
  readonly actorId: string;
  /** The same for every try of one effect: the idempotency key for the other side. */
  readonly effectId: string;
  /** Aborted when the effect is cancelled, its time is up, or the node stops. */
  readonly signal: AbortSignal;
};

export type EffectDefinition<I = any, V = unknown> = {
  /**
   * Awaits the outside world. A thrown `AppError` becomes the outcome `failed` with its message; anything else with a general one, and is logged:
   * `unknown` where it must not be repeated. `draining` is for another node to run.
   */
  run(input: I, context: EffectContext): Promise<V>;
  /** May run again after a crash. When false for an input, a run that was interrupted, by its time limit too, is not repeated: its outcome is `unknown`. */
  repeatable: (input: I) => boolean;
  timeoutMs: number;
  /**
   * Its concurrency limit. `vital`: mails and money, which no work of agents may delay. `compute`: minutes of processor time, of which one account
   * begins a few. Default: `tool`.
   */
  lane?: 'model' | 'tool' | 'vital' | 'compute';
  /** It is quick and calls nothing outside: it does not wait for a slot. */
  isBrief?: boolean;
  /** The command that takes an `EffectResult`. */
  outcome: string;
  /** The form of its input, which is checked before each run. */
  input?: TSchema;
  /** Of its input; default 1. An effect whose version a node does not know waits for one that does. */
  version?: number;
};

/** The effect definitions that an actor's contract requires. */
export type EffectsOf<C extends Contract> = { [E in keyof Effects<C>]: EffectDefinition<Input<Effects<C>[E]>, Reply<Effects<C>[E]>> };
type Effects<C> = C extends { effects: infer E } ? E : Record<never, never>;
type Input<F> = F extends (input: infer I) => unknown ? I : never;
type Reply<F> = F extends (input: any) => infer R ? R : never;

export type ActorDefinition<S extends object, C extends Contract> = {
  ref: ActorRef<C>;
  /** Its primary key is the actor's id. */
  entity: AnyEntity;
  /** `state` is null until a command has created the actor. Throw an `AppError` to refuse; a refused turn leaves no trace. */
  commands: {
    [K in keyof C['commands']]: (
      state: S | null,
      input: Input<C['commands'][K]>,
      ctx: TurnContext<C>,
    ) => Turn<S | null, Reply<C['commands'][K]>>;
  };
  /** Read the last committed state. */
  queries: { [K in keyof C['queries']]: (state: S | null, input: Input<C['queries'][K]>) => Reply<C['queries'][K]> };
  effects?: Record<string, EffectDefinition>;
  /** The forms of what it is sent and of its timers. */
  inputs?: DurableInputs;
  /** An activation that was not used for this long is dropped. */
  idleTimeoutMs?: number;
  /** Envelopes that may wait for one actor; beyond it callers are told `mailbox_full`. */
  mailboxLimit?: number;
  /** Its asks are not shed: it reports the node's health. */
  isVital?: boolean;
  /** A turn that leaves it without a state may send messages. Its first message after each load costs a read of the database. */
  sendsBeforeItExists?: boolean;
};

/** A definition whose types have been checked; what the runtime works with. */
export type AnyActor = {
  ref: ActorRef<any>;
  entity: AnyEntity;
  commands: Record<string, (state: any, input: any, ctx: TurnContext) => Turn<any, any>>;
  queries: Record<string, (state: any, input: any) => unknown>;
  effects?: Record<string, EffectDefinition>;
  inputs?: DurableInputs;
  idleTimeoutMs?: number;
  mailboxLimit?: number;
  /** Its asks are not shed: it reports the node's health. */
  isVital?: boolean;
  /** A turn that leaves it without a state may send messages. Its first message after each load costs a read of the database. */
  sendsBeforeItExists?: boolean;
};

/** Checks a definition's types; the value is the definition itself. */
export function defineActor<S extends object, C extends Contract>(definition: ActorDefinition<S, C>): ActorDefinition<S, C> {
  return definition;
}
