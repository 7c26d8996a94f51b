/** The checker of the chaos runs with hand-made histories: a correct one, and for each rule one that breaks it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { check, type Kept, rules } from './check.ts';
import type { Operation, Received } from './history.ts';

type Seen = { operations: Operation[]; received: Received[]; anomalies: { atMs: number; words: string }[] };

test('a correct run breaks no rule', () => {
  const { seen, kept } = goodRun();
  assert.deepEqual(check(seen, kept), []);
});

const breakages: [string, keyof typeof rules, RegExp, (run: { seen: Seen; kept: Kept }) => void][] = [
  ['an answer of 500', 'anomalies', /500/, ({ seen }) => seen.anomalies.push({ atMs: 1, words: 'POST /v1/tasks was answered 500' })],
  ['an acknowledged task that is not kept', 'acknowledged', /create task.*is not kept/, ({ kept }) => kept.tasks.splice(0, 1)],
  [
    'an acknowledged task that one node does not know',
    'acknowledged',
    /node-2 answers 404/,
    ({ kept }) => (kept.readings[1]!.status = 404),
  ],
  ['a cancel that was acknowledged and lost', 'acknowledged', /cancel task.*complete/, ({ kept }) => (kept.tasks[1]!.status = 'complete')],
  ['a revoked key that is active', 'acknowledged', /revoke key.*active/, ({ kept }) => (kept.keys[0]!.status = 'active')],
  ['a command that took effect twice', 'once', /took effect 2 times/, ({ kept }) => kept.workspaces.push({ id: 'ws_2', name: 'sales' })],
  [
    'a refused command that took effect',
    'once',
    /took effect 1 times/,
    ({ kept }) => kept.workspaces.push({ id: 'ws_3', name: 'refused' }),
  ],
  ['a version answered to two writes', 'once', /version 1 .*two writes/, ({ seen }) => (operation(seen, 2).result = 1)],
  ['a version that is gone', 'once', /version 2 .* 1 is the last/, ({ kept }) => (kept.files[0]!.version = 1)],
  ['a version that no client wrote', 'once', /4 versions from 2 writes/, ({ kept }) => (kept.files[0]!.version = 4)],
  [
    'a version emitted twice',
    'once',
    /events have the versions 1,2,1/,
    ({ kept }) => kept.events.push({ ...kept.events[0]!, account: 'b' }),
  ],
  ['a stale read', 'linearizable', /no order .* number 3/, ({ seen }) => (operation(seen, 3).result = 'a')],
  ['a node that ends with an older value', 'linearizable', /no order/, ({ kept }) => (kept.registers[1]!.value = 'a')],
  ['a missing event', 'streams', /after 1 came 3/, ({ seen }) => seen.received.splice(1, 1)],
  ['a repeated event', 'streams', /after 2 came 2/, ({ seen }) => seen.received.splice(1, 0, seen.received[1]!)],
  [
    'events in another order',
    'streams',
    /after 0 came 2/,
    ({ seen }) => seen.received.reverse().sort((a, b) => (a.seq === 2 ? -1 : b.seq)),
  ],
  ['a wrong link to the event before', 'streams', /said to follow 0/, ({ seen }) => (seen.received[2]!.prev = 0)],
  ['an event that was sent and is not kept', 'streams', /is evt_x, but evt_2 is kept/, ({ seen }) => (seen.received[1]!.id = 'evt_x')],
  ['an event that was never sent', 'streams', /3 events are kept, it was sent 2/, ({ seen }) => seen.received.pop()],
  ['a hole in the kept numbers', 'streams', /not numbered 1 to 3/, ({ kept }) => (kept.events[2]!.seq = 4)],
  ['a task that hangs', 'tasks', /still running/, ({ kept }) => (kept.tasks[0]!.status = 'running')],
  ['a tool call with two results', 'tools', /agnt_1 call_1/, ({ kept }) => kept.events.push({ ...kept.events[2]!, seq: 4 })],
  ['a message that no actor consumed', 'leftovers', /1 messages/, ({ kept }) => (kept.leftovers.messages = 1)],
];

for (const [what, rule, words, broken] of breakages)
  test(`${what} is found`, () => {
    const run = goodRun();
    broken(run);
    const found = check(run.seen, run.kept);
    assert.ok(
      found.some((violation) => violation.rule === rules[rule] && words.test(violation.words)),
      JSON.stringify(found, null, 1),
    );
  });

test('an unknown outcome may have taken effect or not, and never twice', () => {
  for (const [times, holds] of [
    [0, true],
    [1, true],
    [2, false],
  ] as const) {
    const { seen, kept } = goodRun();
    seen.operations.push(operationOf({ id: 9, name: 'create workspace', subject: 'perhaps', outcome: 'unknown', endedMs: null }));
    for (let n = 0; n < times; n++) kept.workspaces.push({ id: `ws_p${n}`, name: 'perhaps' });
    assert.equal(check(seen, kept).length === 0, holds, `${times} times`);
  }
});

function goodRun(): { seen: Seen; kept: Kept } {
  const operations = [
    operationOf({ id: 1, name: 'write', subject: 'ws_1/r', value: 'a', result: 1, invokedMs: 0, endedMs: 10 }),
    operationOf({ id: 2, name: 'write', subject: 'ws_1/r', value: 'b', result: 2, invokedMs: 20, endedMs: 30 }),
    operationOf({ id: 3, name: 'read', subject: 'ws_1/r', result: 'b', invokedMs: 40, endedMs: 50 }),
    operationOf({ id: 4, name: 'create task', subject: 'prompt 4', result: 'task_1' }),
    operationOf({ id: 5, name: 'create task', subject: 'prompt 5', result: 'task_2' }),
    operationOf({ id: 6, name: 'cancel task', subject: 'task_2' }),
    operationOf({ id: 7, name: 'create workspace', subject: 'sales', result: 'ws_1' }),
    operationOf({ id: 8, name: 'create workspace', subject: 'refused', outcome: 'refused', status: 409 }),
    operationOf({ id: 10, name: 'create key', subject: 'key 10', result: 'key-1' }),
    operationOf({ id: 11, name: 'revoke key', subject: 'key-1' }),
  ];
  const frame = (seq: number): Received => ({
    subscriber: 's',
    account: 'a',
    node: 'node-1',
    atMs: seq,
    prev: seq - 1,
    seq,
    id: `evt_${seq}`,
    type: 't',
  });
  const none = { register: null, version: null, call: null };
  const event = (seq: number) => ({ account: 'a', seq, id: `evt_${seq}`, type: 't' });
  const kept: Kept = {
    readings: [
      { node: 'node-1', id: 'task_1', status: 200 },
      { node: 'node-2', id: 'task_1', status: 200 },
    ],
    registers: ['node-1', 'node-2'].map((node) => ({ node, register: 'ws_1/r', value: 'b' })),
    files: [{ register: 'ws_1/r', version: 2 }],
    tasks: [
      { id: 'task_1', prompt: 'prompt 4', status: 'complete' },
      { id: 'task_2', prompt: 'prompt 5', status: 'cancelled' },
    ],
    workspaces: [{ id: 'ws_1', name: 'sales' }],
    keys: [{ id: 'key-1', name: 'key 10', status: 'revoked' }],
    events: [
      { ...event(1), ...none, register: 'ws_1/r', version: 1 },
      { ...event(2), ...none, register: 'ws_1/r', version: 2 },
      { ...event(3), ...none, call: 'agnt_1 call_1' },
    ],
    leftovers: { deadLetters: 0, messages: 0, effects: 0 },
  };
  return { seen: { operations, received: [frame(1), frame(2), frame(3)], anomalies: [] }, kept };
}

function operationOf(fields: Partial<Operation> & Pick<Operation, 'id' | 'name' | 'subject'>): Operation {
  return {
    account: 'a',
    value: null,
    invokedMs: 0,
    begunMs: 0,
    endedMs: 1,
    outcome: 'done',
    status: 200,
    result: null,
    requests: 1,
    ...fields,
  };
}

function operation({ operations }: Seen, id: number): Operation {
  return operations.find((one) => one.id === id)!;
}
