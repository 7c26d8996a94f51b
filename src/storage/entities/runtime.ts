/** The tables of the actor runtime: owners of shards, results of commits, and pending work. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../column-types.ts';

/** The fence: a commit for a shard is valid only with the stored epoch and owner. */
export const Shard = defineEntity({
  name: 'Shard',
  tableName: 'shard',
  properties: { shard: p.integer().primary().autoincrement(false), epoch: p.bigint('number'), owner: p.text().strictNullable() },
});

/** The last batch that an owner has committed: it shows whether a batch with an unknown outcome was committed. */
export const CommitMarker = defineEntity({
  name: 'CommitMarker',
  tableName: 'commit_marker',
  properties: { owner: p.text().primary(), batch: p.bigint('number'), committedAt: epochMs().defaultRaw('now()') },
});

/** The newest event number of an account. */
export const EventCounter = defineEntity({
  name: 'EventCounter',
  tableName: 'event_counter',
  properties: { accountId: p.text().primary(), lastSeq: p.bigint('number') },
});

/** Committed events: `seq` is per account, from 1, without gaps. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'event',
  properties: {
    accountId: p.text().primary(),
    seq: p.bigint('number').primary(),
    id: p.text(),
    type: p.text(),
    /** The task that the event belongs to; such events are kept as long as the task. */
    taskId: p.text().strictNullable(),
    data: json<unknown>(),
    createdAt: epochMs(),
  },
});

/**
 * The outbox: messages between actors that their receivers have not yet consumed. The database numbers them (`seq`), so that a sender's
 * later commit has the larger number.
 */
export const Message = defineEntity({
  name: 'Message',
  tableName: 'message',
  readonly: true,
  properties: {
    id: p.text().primary(),
    shard: p.integer(),
    kind: p.text(),
    actorId: p.text(),
    command: p.text(),
    input: json<unknown>(),
    createdAt: epochMs(),
    /** Kind and id of the sender; null in rows of versions that did not record them. */
    sender: p.text().strictNullable(),
  },
});

/** Timers that have not fired. An actor has at most one timer with a name. */
export const Timer = defineEntity({
  name: 'Timer',
  tableName: 'timer',
  properties: {
    kind: p.text().primary(),
    actorId: p.text().primary(),
    name: p.text().primary(),
    shard: p.integer(),
    command: p.text(),
    input: json<unknown>(),
    dueAt: epochMs(),
  },
});

/** Effects whose outcome no actor has committed yet. */
export const Effect = defineEntity({
  name: 'Effect',
  tableName: 'effect',
  properties: {
    id: p.text().primary(),
    shard: p.integer(),
    kind: p.text(),
    actorId: p.text(),
    name: p.text(),
    input: json<unknown>(),
    /**
     * The node incarnation that has started it; only set if it must not be repeated blindly, continues while its shard has moved, or was
     * started by another incarnation than its recorder.
     */
    startedBy: p.text().strictNullable(),
    /** The incarnation that committed it; null in rows of versions that did not record it. */
    recordedBy: p.text().strictNullable(),
    /** The account of the effect; null if it has none. */
    accountId: p.text().strictNullable(),
    /** How often it was restarted after a process that ran it died. */
    starts: p.integer(),
    createdAt: epochMs(),
  },
});

/** Incarnations that have stopped in order: their unfinished effects are not suspects. */
export const EndedOwner = defineEntity({
  name: 'EndedOwner',
  tableName: 'ended_owner',
  properties: { owner: p.text().primary(), endedAt: epochMs().defaultRaw('now()') },
});

/** Commands with an id that have taken effect, and their replies. */
export const CommandRecord = defineEntity({
  name: 'CommandRecord',
  tableName: 'command_record',
  properties: { id: p.text().primary(), reply: json<unknown>().strictNullable(), createdAt: epochMs() },
});

/** Messages, timers and effect outcomes that their actor could not take, kept for an operator. */
export const DeadLetter = defineEntity({
  name: 'DeadLetter',
  tableName: 'dead_letter',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    actorId: p.text(),
    command: p.text(),
    input: json<unknown>(),
    error: p.text(),
    /** A `DeadLetterSource`, the id of the source, and the number of attempts; null in rows of versions that did not record them. */
    source: p.text().strictNullable(),
    sourceId: p.text().strictNullable(),
    attempts: p.integer().strictNullable(),
    createdAt: epochMs(),
  },
});

/** Operators' actions on dead letters. */
export const DeadLetterAction = defineEntity({
  name: 'DeadLetterAction',
  tableName: 'dead_letter_action',
  properties: {
    id: p.bigint('number').primary(),
    letterId: p.text(),
    action: p.text(),
    kind: p.text(),
    actorId: p.text(),
    command: p.text(),
    error: p.text(),
    attempts: p.integer().strictNullable(),
    actedBy: p.text(),
    actedAt: epochMs().defaultRaw('now()'),
  },
});

/** A caller's Idempotency-Key: its first request, the ids given to the request, the process that runs it, and the answer. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    accountId: p.text().primary(),
    key: p.text().primary(),
    fingerprint: p.text(),
    targetId: p.text(),
    commandId: p.text(),
    /** The incarnation of the node. */
    reservedBy: p.text(),
    reservedAt: epochMs(),
    status: p.integer().strictNullable(),
    response: p.text().strictNullable(),
    /** The answer with its secrets, and the time until which it is replayed. */
    secretResponse: p.text().strictNullable(),
    secretUntil: epochMs().strictNullable(),
    expiresAt: epochMs(),
  },
});

/** One row a node: written by a periodic command that uses the whole commit path, as a health check. */
export const Canary = defineEntity({
  name: 'Canary',
  tableName: 'canary',
  properties: { id: p.text().primary(), beats: p.bigint('number') },
});
export type CanaryRow = InferEntity<typeof Canary>;
