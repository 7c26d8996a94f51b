/** What the actor runtime itself keeps: who owns a shard, what has been committed, and what still has to be done. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs, json } from '../column-types.ts';

/** The fence: a commit for a shard counts only with the epoch and the owner that stand here. */
export const Shard = defineEntity({
  name: 'Shard',
  tableName: 'shard',
  properties: { shard: p.integer().primary().autoincrement(false), epoch: p.bigint('number'), owner: p.text().strictNullable() },
});

/** The last batch an owner has committed: it answers whether a batch with an unknown outcome is in. */
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
    /** The task whose history this belongs to; such events stay as long as the task. */
    taskId: p.text().strictNullable(),
    data: json<unknown>(),
    createdAt: epochMs(),
  },
});

/**
 * The outbox: messages between actors that their receivers have not yet committed. The database numbers them (`seq`), so that what one sender
 * commits later has the larger number.
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
    /** Its kind and id; null for what versions sent that did not say. */
    sender: p.text().strictNullable(),
  },
});

/** Timers that have not fired. An actor has at most one of a name. */
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
     * The node incarnation that has begun it; only set where it must not be repeated blindly, goes on while its shard has moved, or was begun by
     * another than its recorder.
     */
    startedBy: p.text().strictNullable(),
    /** The incarnation that committed it; null for rows of versions that did not say. */
    recordedBy: p.text().strictNullable(),
    /** Whose work it is; null where it is no account's. */
    accountId: p.text().strictNullable(),
    /** How often it was begun again after the process that ran it had died. */
    starts: p.integer(),
    createdAt: epochMs(),
  },
});

/** Incarnations that have stopped in order: what they left unfinished is not suspected of having ended them. */
export const EndedOwner = defineEntity({
  name: 'EndedOwner',
  tableName: 'ended_owner',
  properties: { owner: p.text().primary(), endedAt: epochMs().defaultRaw('now()') },
});

/** Commands with an id that have taken effect, and what was answered. */
export const CommandRecord = defineEntity({
  name: 'CommandRecord',
  tableName: 'command_record',
  properties: { id: p.text().primary(), reply: json<unknown>().strictNullable(), createdAt: epochMs() },
});

/** Messages, timers and effect outcomes that their actor could not take, kept for a person to look at. */
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
    /** A `DeadLetterSource`, the id of what it was, and how often it was tried; null in rows of versions that did not say. */
    source: p.text().strictNullable(),
    sourceId: p.text().strictNullable(),
    attempts: p.integer().strictNullable(),
    createdAt: epochMs(),
  },
});

/** What operators have done with dead letters. */
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

/** A caller's Idempotency-Key: what it was first used for, the ids its request was given, who runs it, and the answer. */
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
    /** The answer with its secrets, and until when it is given. */
    secretResponse: p.text().strictNullable(),
    secretUntil: epochMs().strictNullable(),
    expiresAt: epochMs(),
  },
});

/** One row a node: its heartbeat, gone the whole way of a command. */
export const Canary = defineEntity({
  name: 'Canary',
  tableName: 'canary',
  properties: { id: p.text().primary(), beats: p.bigint('number') },
});
export type CanaryRow = InferEntity<typeof Canary>;
