/**
 * Checks a run: compares the observations of clients with the stored resources. A pure function of the history; returns the violations.
 *
 * Everything here can fail: `check.test.ts` gives each rule a history that breaks it.
 */
import type { History, Operation, Received } from './history.ts';
import { judgeRegister, type RegisterOperation } from './linearizable.ts';

/** What was found when the load had ended and everything was healed. */
export type Kept = {
  /** What reading an acknowledged creation gave, on each node. */
  readings: { node: string; id: string; status: number }[];
  /** What each node says of each register. */
  registers: { node: string; register: string; value: string | null }[];
  /** From the database. A file's `register` is its workspace and name. */
  files: { register: string; version: number }[];
  tasks: { id: string; prompt: string; status: string }[];
  workspaces: { id: string; name: string }[];
  keys: { id: string; name: string; status: string }[];
  /** Of all accounts, each account's by number. `register`, `version`: of an upload. `call`: of a tool's result, agent and call. */
  events: {
    account: string;
    seq: number;
    id: string;
    type: string;
    register: string | null;
    version: number | null;
    call: string | null;
  }[];
  /** Work that was not consumed: dead letters, and messages and effects that remain although all work has ended. */
  leftovers: { deadLetters: number; messages: number; effects: number };
};

export type Violation = { rule: string; words: string };

/** The rules in the words of a report. */
export const rules = {
  anomalies: 'nothing happens that is never to happen',
  acknowledged: 'what was acknowledged is there, on every node',
  once: 'a command takes effect once',
  linearizable: 'a register is as if there were one copy of it',
  streams: 'a stream is gapless, in order, and what is kept',
  tasks: 'every task comes to its end',
  tools: 'a finished tool call is never made again',
  leftovers: 'nothing is left undone',
} as const;

const endStatuses = ['complete', 'failed', 'cancelled'];
/** A failed run has many violations; the first ones of each rule are enough for a report. */
const shownOfARule = 20;

export function check(history: Pick<History, 'operations' | 'received' | 'anomalies'>, kept: Kept): Violation[] {
  const found: Record<keyof typeof rules, string[]> = {
    anomalies: history.anomalies.map(({ atMs, words }) => `${Math.round(atMs)} ms: ${words}`),
    acknowledged: acknowledgedIsThere(history.operations, kept),
    once: effectsOnce(history.operations, kept),
    linearizable: registersLinearizable(history.operations, kept),
    streams: streamsWhole(history.received, kept),
    tasks: kept.tasks.filter(({ status }) => !endStatuses.includes(status)).map(({ id, status }) => `task ${id} is still ${status}`),
    tools: repeated(kept.events.flatMap(({ call }) => (call === null ? [] : [call]))).map((call) => `tool call ${call} has two results`),
    leftovers: Object.entries(kept.leftovers).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`])),
  };
  return violationsOf(rules, found);
}

/** @param found what is wrong, by the short names of `rules` */
export function violationsOf<R extends string>(rules: Readonly<Record<R, string>>, found: Readonly<Record<R, string[]>>): Violation[] {
  return (Object.keys(rules) as R[]).flatMap((name) => found[name].slice(0, shownOfARule).map((words) => ({ rule: rules[name], words })));
}

function acknowledgedIsThere(operations: readonly Operation[], kept: Kept): string[] {
  const created = new Set([...kept.tasks, ...kept.workspaces, ...kept.keys].map(({ id }) => id));
  const lost = operations
    .filter(({ name, outcome, result }) => name.startsWith('create') && outcome === 'done' && !created.has(String(result)))
    .map((operation) => `${describeOperation(operation)} is not kept`);
  const unreadable = kept.readings
    .filter(({ status }) => status !== 200)
    .map(({ node, id, status }) => `${node} answers ${status} for ${id}`);
  const statusOf = new Map([...kept.tasks, ...kept.keys].map(({ id, status }) => [id, status]));
  const undone = operations
    .filter(({ name, outcome }) => outcome === 'done' && (name === 'cancel task' || name === 'revoke key'))
    .filter(({ name, subject }) => statusOf.get(subject) !== (name === 'cancel task' ? 'cancelled' : 'revoked'))
    .map((operation) => `${describeOperation(operation)}, but it is ${statusOf.get(operation.subject)}`);
  return [...lost, ...unreadable, ...undone];
}

/** Each creation has a text of its own, so the stored resources show how often it took effect. */
function effectsOnce(operations: readonly Operation[], kept: Kept): string[] {
  const counts = {
    'create task': countOf(kept.tasks.map(({ prompt }) => prompt)),
    'create workspace': countOf(kept.workspaces.map(({ name }) => name)),
    'create key': countOf(kept.keys.map(({ name }) => name)),
  };
  const wrong: string[] = [];
  for (const operation of operations) {
    if (!(operation.name in counts)) continue;
    const times = counts[operation.name as keyof typeof counts].get(operation.subject) ?? 0;
    const allowed = operation.outcome === 'done' ? [1] : operation.outcome === 'refused' ? [0] : [0, 1];
    if (!allowed.includes(times)) wrong.push(`${describeOperation(operation)} took effect ${times} times`);
  }
  return [...wrong, ...versionsOnce(operations, kept)];
}

/** Versions of a register begin at 1 and have no gap; each is from one write, and is answered once. */
function versionsOnce(operations: readonly Operation[], kept: Kept): string[] {
  const wrong: string[] = [];
  const versions = new Map(kept.files.map(({ register, version }) => [register, version]));
  for (const [register, writes] of grouped(
    operations.filter(({ name }) => name === 'write'),
    ({ subject }) => subject,
  )) {
    const last = versions.get(register) ?? 0;
    const acknowledged = writes.filter(({ outcome }) => outcome === 'done').map(({ result }) => Number(result));
    for (const version of repeated(acknowledged)) wrong.push(`version ${version} of ${register} was answered to two writes`);
    for (const version of acknowledged)
      if (version > last) wrong.push(`version ${version} of ${register} was answered, but ${last} is the last`);
    const unknown = writes.filter(({ outcome }) => outcome === 'unknown').length;
    if (last - acknowledged.length > unknown || last < acknowledged.length)
      wrong.push(`${register} has ${last} versions from ${acknowledged.length} writes acknowledged and ${unknown} unknown`);
    const emittedVersions = kept.events.filter((event) => event.register === register).map(({ version }) => version);
    if (emittedVersions.length !== last || emittedVersions.some((version, n) => version !== n + 1))
      wrong.push(`events have the versions ${emittedVersions.slice(0, 50).join()} of ${register}, which has ${last}`);
  }
  return wrong;
}

/** The last readings, of every node, belong to the history: they come after everything. */
function registersLinearizable(operations: readonly Operation[], kept: Kept): string[] {
  const wrong: string[] = [];
  const afterMs = 1 + operations.reduce((latest, { invokedMs, endedMs }) => Math.max(latest, invokedMs, endedMs ?? 0), 0);
  const lastReadings = grouped(kept.registers, ({ register }) => register);
  const uses = operations.filter(({ name }) => name === 'write' || name === 'read');
  for (const [register, history] of grouped(uses, ({ subject }) => subject)) {
    const last = (lastReadings.get(register) ?? []).map(
      ({ value }, n): RegisterOperation => ({
        id: -1 - n,
        kind: 'read',
        value,
        version: null,
        invokedMs: afterMs,
        returnedMs: afterMs + 1,
      }),
    );
    const judgement = judgeRegister([...history.flatMap(registerOperation), ...last]);
    if (judgement.kind === 'undecided') wrong.push(`${register}: too many orders are possible to try them all`);
    if (judgement.kind === 'not linearizable') wrong.push(`${register}: no order of its operations explains number ${judgement.stuckAt}`);
  }
  return wrong;
}

function registerOperation({ id, name, value, result, outcome, invokedMs, endedMs }: Operation): RegisterOperation[] {
  if (outcome === 'refused' || (name === 'read' && outcome === 'unknown')) return [];
  const returnedMs = endedMs ?? Number.POSITIVE_INFINITY;
  if (name === 'read') return [{ id, kind: 'read', value: result as string | null, version: null, invokedMs, returnedMs }];
  return [{ id, kind: 'write', value: value as string, version: outcome === 'done' ? Number(result) : null, invokedMs, returnedMs }];
}

function streamsWhole(received: readonly Received[], kept: Kept): string[] {
  const wrong: string[] = [];
  const ofAccount = grouped(kept.events, ({ account }) => account);
  for (const [account, events] of ofAccount)
    events.some(({ seq }, n) => seq !== n + 1) && wrong.push(`the kept events of ${account} are not numbered 1 to ${events.length}`);
  for (const [subscriber, frames] of grouped(received, (frame) => frame.subscriber)) {
    const events = ofAccount.get(frames[0]!.account) ?? [];
    let position = 0;
    for (const { prev, seq, id, node, atMs } of frames) {
      const where = `${subscriber} on ${node} at ${Math.round(atMs)} ms`;
      if (prev !== position || seq !== position + 1) wrong.push(`${where}: after ${position} came ${seq}, said to follow ${prev}`);
      if (events[seq - 1]?.id !== id) wrong.push(`${where}: event ${seq} is ${id}, but ${events[seq - 1]?.id} is kept`);
      position = seq;
    }
    if (position < events.length) wrong.push(`${subscriber}: ${events.length} events are kept, it was sent ${position}`);
  }
  return wrong;
}

/** An operation in the words of a report. */
export function describeOperation({ id, name, subject, status, invokedMs }: Operation): string {
  return `operation ${id} (${name} ${subject}, begun at ${Math.round(invokedMs)} ms, answered ${status})`;
}

function grouped<T>(list: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  return Map.groupBy(list, keyOf);
}

function countOf(list: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

function repeated<T>(list: readonly T[]): T[] {
  const seen = new Set<T>();
  return list.filter((one) => seen.has(one) || !seen.add(one));
}
