/**
 * The definition of an actor: its kind, the entity of its durable state, and its commands, queries and effects. A definition is data and
 * plain synchronous functions; the runtime does the rest. Commands return the next state and the reply, and *record* further work on the
 * context; the commit makes all of it durable.
 */
import type { EntitySchema, InferEntity } from '@mikro-orm/core';
import type { TSchema } from 'typebox';
import type { AppError } from '../errors.ts';
import type { IdPrefix } from '../ids.ts';
import type { AnyEntity } from '../storage/database.ts';
import type { DurableInputs } from './durable-input.ts';

/** The interface of a kind of actor: function types by name, each from its input to its reply. */
export type Contract = {
  commands: Record<string, (input: any) => unknown>;
  queries: Record<string, (input: any) => unknown>;
  /** Calls to the outside world: from the input of a run to the value of its outcome. */
  effects?: Record<string, (input: any) => unknown>;
};

/** Names a kind of actor together with its contract, so that asking and sending are checked by the compiler. */
export type ActorRef<C extends Contract> = { readonly kind: string; readonly versions?: InputVersions<C>; readonly contract?: C };
/**
 * The version of each command's input where it is not 1. A message or timer with a version that a node does not know waits for a node that
 * does.
 */
export type InputVersions<C extends Contract> = { readonly [K in keyof C['commands']]?: number };

export function actorRef<C extends Contract>(kind: string, versions?: InputVersions<C>): ActorRef<C> {
  return versions === undefined ? { kind } : { kind, versions };
}

/** A turn's outcome. Return the given state to change nothing. */
export type Turn<S, R> = { state: S; reply: R };

/**
 * The outcome of an effect, for its actor. `unknown`: it was started and must not be repeated blindly, but its result is not known: the
 * process that ran it died, its time was up, or it failed unexpectedly.
 */
export type EffectOutcome<V = unknown> =
  | { kind: 'done'; value: V }
  /** `abandoned`: it was started several times, and each time the process that ran it ended. It must not be requested again. */
  | { kind: 'failed'; message: string; abandoned?: true }
  | { kind: 'unknown' };
/** `tookMs`: how long the run took that had this outcome. */
export type EffectResult<V = unknown> = { effectId: string; outcome: EffectOutcome<V>; tookMs: number };

export type NewEvent = { accountId: string; type: string; taskId?: string; data: object };

/** What a turn can do besides returning its state. Nothing of it happens before the commit. */
export interface TurnContext<Own extends Contract = any> {
  /** The actor's own id. */
  readonly id: string;
  readonly nowMs: number;
  /** `owner`: as in `newId`. */
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
   * committed together or not at all. The other actor must be on the same shard (`colocatedId`), and its command may neither call a further
   * actor nor defer its caller. Throws the command's error; then the command has changed nothing.
   */
  callColocated<C extends Contract, K extends keyof C['commands'] & string>(
    to: ActorRef<C>,
    id: string,
    command: K,
    input: Parameters<C['commands'][K]>[0],
  ): ReturnType<C['commands'][K]>;
  /** Starts an effect of this actor's definition; its outcome arrives as the effect's `outcome` command. Returns the effect's id. */
  run<E extends keyof Effects<Own> & string>(effect: E, input: Input<Effects<Own>[E]>): string;
  /** Cancels a running effect; its outcome will not arrive. */
  cancel(effectId: string): void;
  /** Sets the timer of this name, or moves it; when it is due, `command` arrives with `input`. */
  schedule<K extends keyof Own['commands'] & string>(name: string, dueMs: number, command: K, input: Input<Own['commands'][K]>): void;
  unschedule(name: string): void;
  /**
   * Writes a row of a history or list that belongs to this actor: inserted, or replaced by primary key. A row of a read-only entity is
   * never replaced: if it exists, the turn fails.
   */
  append<E extends EntitySchema<any>>(entity: E, row: InferEntity<E>): void;
  /** Defers the reply of this turn: the caller is answered by a later turn's `answer` with the same key, or when its deadline has passed. */
  defer(key: string): void;
  /** Answers the callers that this command deferred under this key, after this turn's commit. No waiting caller is no error. */
  answer<K extends keyof Own['commands'] & string>(command: K, key: string, reply: Reply<Own['commands'][K]> | AppError): void;
}

export type EffectContext = {
  readonly actorId: string;
  /** The same for every try of one effect: the idempotency key for the external service. */
  readonly effectId: string;
  /** An earlier try may have been started, here or on another node. */
  readonly isRepeat: boolean;
  /** Aborted when the effect is cancelled, its time is up, or the node stops. */
  readonly signal: AbortSignal;
  /**
   * Frees the effect's concurrency slot before the effect ends: from now on the effect only waits for something that is bounded elsewhere.
   * Repeated calls do nothing. Without effect for one that was restarted after two crashes or more: it runs alone.
   */
  releaseSlot(): void;
};

export type EffectDefinition<I = any, V = unknown> = {
  /**
   * Calls the outside world. A thrown `AppError` becomes the outcome `failed` with its message. Any other error is logged and becomes
   * `failed` with a general message, or `unknown` if the effect must not be repeated. After `draining`, another node runs the effect.
   */
  run(input: I, context: EffectContext): Promise<V>;
  /**
   * Whether it may run again after a crash. If false for an input, an interrupted run, also one interrupted by its time limit, is not
   * repeated: its outcome is `unknown`.
   */
  repeatable: (input: I) => boolean;
  timeoutMs: number;
  /**
   * Its concurrency limit. `vital`: mails and money, which no work of agents may delay. `compute`: minutes of processor time, of which one account
   * begins a few. `publish` and `build`: minutes of transfers and of child processes. Default: `tool`.
   */
  lane?: 'model' | 'tool' | 'vital' | 'compute' | 'publish' | 'build';
  /** It needs no slot: it is quick and calls nothing outside, or what it calls is bounded elsewhere. */
  isBrief?: boolean;
  /** The command that takes an `EffectResult`. */
  outcome: string;
  /** The schema of its input, which is checked before each run. */
  input?: TSchema;
  /** Version of its input; default 1. An effect with a version that a node does not know waits for a node that does. */
  version?: number;
};

/** The effect definitions that an actor's contract requires. */
export type EffectsOf<C extends Contract> = { [E in keyof Effects<C>]: EffectDefinition<Input<Effects<C>[E]>, Reply<Effects<C>[E]>> };
type Effects<C> = C extends { effects: infer E } ? E : Record<never, never>;
type Input<F> = F extends (input: infer I) => unknown ? I : never;
type Reply<F> = F extends (input: any) => infer R ? R : never;

/** The parts of a definition whose types do not depend on the contract. */
type ActorOptions = {
  /** Its primary key is the actor's id. */
  entity: AnyEntity;
  effects?: Record<string, EffectDefinition>;
  /** The schemas of messages and timers that it receives. */
  inputs?: DurableInputs;
  /** An activation that is unused for this long is dropped. */
  idleTimeoutMs?: number;
  /** Most envelopes that wait for one actor; further callers get `mailbox_full`. */
  mailboxLimit?: number;
  /** Its asks are not shed: it reports the node's health. */
  isVital?: boolean;
  /** A turn that leaves it without a state may send messages. Its first message after each load costs a read of the database. */
  sendsBeforeItExists?: boolean;
};

export type ActorDefinition<S extends object, C extends Contract> = ActorOptions & {
  ref: ActorRef<C>;
  /** `state` is null until a command has created the actor. Throw an `AppError` to refuse; a refused turn changes nothing. */
  commands: {
    [K in keyof C['commands']]: (
      state: S | null,
      input: Input<C['commands'][K]>,
      ctx: TurnContext<C>,
    ) => Turn<S | null, Reply<C['commands'][K]>>;
  };
  /** Read the last committed state. */
  queries: { [K in keyof C['queries']]: (state: S | null, input: Input<C['queries'][K]>) => Reply<C['queries'][K]> };
};

/** A definition whose types have been checked; the form that the runtime uses. */
export type AnyActor = ActorOptions & {
  ref: ActorRef<any>;
  commands: Record<string, (state: any, input: any, ctx: TurnContext) => Turn<any, any>>;
  queries: Record<string, (state: any, input: any) => unknown>;
};

/** Checks a definition's types; the value is the definition itself. */
export function defineActor<S extends object, C extends Contract>(definition: ActorDefinition<S, C>): ActorDefinition<S, C> {
  return definition;
}
