import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type from 'typebox';
import { checkArguments } from '../../../../src/domains/tasks/tools/check-arguments.ts';
import { maxResultBytes, type Tool } from '../../../../src/domains/tasks/tools/port.ts';
import { checkCall, runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { AppError, ToolError } from '../../../../src/errors.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

function tool(run: Tool['run'], more: Partial<Tool> = {}): Tool {
  return {
    name: 'probe',
    agentTypes: 'all',
    description: '',
    parameters: Type.Object({}),
    need: null,
    highConsequence: false,
    repeatable: true,
    timeoutMs: 60_000,
    run,
    ...more,
  };
}

async function outcomeOf(probe: Tool, args: unknown = {}, signal?: AbortSignal) {
  const defects: unknown[] = [];
  const outcome = await runTool(probe, args, toolContext(memoryWorkspace(), signal), (error) => defects.push(error));
  return { ...outcome, defects };
}

describe('runTool', () => {
  test('answers the result as JSON data', async () => {
    assert.deepEqual(await outcomeOf(tool(async () => ({ a: new Date(0), b: undefined }))), {
      result: { a: '1970-01-01T00:00:00.000Z' },
      isError: false,
      defects: [],
    });
    assert.equal((await outcomeOf(tool(async () => undefined))).result, null);
  });

  test('the agent gets the message of a ToolError', async () => {
    const failing = tool(async () => {
      throw new ToolError('no such file');
    });
    assert.deepEqual(await outcomeOf(failing), { result: { error: 'no such file' }, isError: true, defects: [] });
  });

  test('logs a defect and hides it from the agent, also one thrown synchronously or with a cycle', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const runs: Tool['run'][] = [
      async () => {
        throw new TypeError('password=hunter2');
      },
      () => {
        throw new Error('at once');
      },
      async () => cycle,
      async () => 10n,
    ];
    for (const run of runs) {
      const { result, isError, defects } = await outcomeOf(tool(run));
      assert.equal(isError, true);
      assert.match((result as { error: string }).error, /^probe failed unexpectedly/);
      assert.equal(defects.length, 1);
    }
  });

  test('retries while the service is too busy, and does not log it', async () => {
    let tries = 0;
    const busyAtFirst = tool(async () => {
      if (++tries < 3) throw new AppError(tries === 1 ? 'overloaded' : 'unavailable', 'Too much to read');
      return 'read';
    });
    assert.deepEqual(await outcomeOf(busyAtFirst), { result: 'read', isError: false, defects: [] });
    assert.equal(tries, 3);
  });

  test('reports to the agent that the service is too busy if the time is up or the call must not be repeated', async () => {
    const refusals: [AppError, Partial<Tool>][] = [
      [new AppError('overloaded', 'Too much to read'), { timeoutMs: 150 }],
      [new AppError('overloaded', 'Too much to send'), { repeatable: false }],
      [new AppError('plan_required', 'The plan allows no more files'), {}],
    ];
    for (const [error, more] of refusals) {
      let tries = 0;
      const refused = tool(async () => {
        tries++;
        throw error;
      }, more);
      assert.deepEqual(await outcomeOf(refused), { result: { error: error.message }, isError: true, defects: [] });
      assert.equal(tries, 1);
    }
  });

  test('stops waiting at the time limit, for tools that react to the abort and for others', async () => {
    const deaf = tool(() => new Promise(() => {}), { timeoutMs: 5 });
    const listening = tool(
      (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { timeoutMs: 5 },
    );
    for (const probe of [deaf, listening]) {
      const { result, isError, defects } = await outcomeOf(probe);
      assert.deepEqual([isError, defects], [true, []]);
      assert.match((result as { error: string }).error, /took longer than 0.005 s/);
    }
  });

  test('reports an unknown outcome when a non-repeatable call exceeds its time limit', async () => {
    const { result } = await outcomeOf(tool(() => new Promise(() => {}), { timeoutMs: 5, repeatable: false }));
    assert.match((result as { error: string }).error, /not known whether it took effect/);
  });

  test("rejects with the caller's reason when it is aborted before or during the call", async () => {
    const reason = new Error('task cancelled');
    let ran = false;
    const probe = tool(async () => void (ran = true));
    await assert.rejects(outcomeOf(probe, {}, AbortSignal.abort(reason)), reason);
    assert.equal(ran, false);
    const abort = new AbortController();
    const deaf = outcomeOf(
      tool(() => new Promise(() => {})),
      {},
      abort.signal,
    );
    abort.abort(reason);
    await assert.rejects(deaf, reason);
  });

  test('leaves the call to another node when this node stops', async () => {
    const stopping = tool(async () => {
      throw new AppError('draining', 'The service is stopping');
    });
    await assert.rejects(outcomeOf(stopping), { code: 'draining' });
  });

  test('ignores a failure of the tool after its time limit', async () => {
    const late = Promise.withResolvers<never>();
    await outcomeOf(tool(() => late.promise, { timeoutMs: 5 }));
    late.reject(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  const large: [string, unknown][] = [
    ['a long text', { text: 'x'.repeat(200_000), kept: 1 }],
    ['a text of quotes', { text: '"'.repeat(200_000) }],
    ['a text of emoji', { text: '😀'.repeat(100_000) }],
    ['many texts', Array.from({ length: 2000 }, () => 'x'.repeat(500))],
    ['many numbers', Array.from({ length: 100_000 }, (_, i) => i)],
    ['many names', Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`n"${i}`, 1]))],
    ['one very long name', { ['n\u0001'.repeat(100_000)]: 1 }],
  ];
  for (const [name, value] of large) {
    test(`cuts ${name} to the recorded size`, async () => {
      const { result, isError } = await outcomeOf(tool(async () => value));
      const bytes = Buffer.byteLength(JSON.stringify(result));
      assert.equal(isError, false);
      assert.ok(bytes <= maxResultBytes && bytes > 1000, String(bytes));
    });
  }

  test('never passes invalid arguments to the tool', async () => {
    let ran = false;
    const probe = tool(async () => void (ran = true), { parameters: Type.Object({ path: Type.String() }) });
    const { result, isError } = await outcomeOf(probe, { path: {} });
    assert.deepEqual([isError, ran], [true, false]);
    assert.match((result as { error: string }).error, /Wrong arguments for probe: path/);
  });
});

describe('checkCall', () => {
  test('refuses text that cannot be stored before the check of the tool itself', async () => {
    const own = { ...tool(async () => null), check: (sent: unknown) => ({ ok: true as const, args: sent as Record<string, unknown> }) };
    assert.deepEqual(await checkCall(own, { texts: ['a\u{1f600}'] }), { ok: true, args: { texts: ['a\u{1f600}'] } });
    const refusal = 'Text must not hold NUL characters or unpaired surrogates';
    assert.deepEqual(await checkCall(own, { texts: ['a', 'b\0'], 'n\ud83d': 1 }), {
      ok: false,
      message: `Wrong arguments for probe: texts.1: ${refusal}; the arguments: ${refusal}.`,
    });
    assert.deepEqual(await outcomeOf(own, { text: '\udc00' }), {
      ...{ result: { error: `Wrong arguments for probe: text: ${refusal}.` }, isError: true, defects: [] },
    });
  });
});

describe('checkArguments', () => {
  const probe = {
    name: 'probe',
    parameters: Type.Object({
      path: Type.String({ minLength: 1, maxLength: 10 }),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      deep: Type.Optional(Type.Object({ a: Type.Number() })),
      kind: Type.Optional(Type.Union([Type.Literal('one'), Type.Literal('two')])),
      config: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      sizes: Type.Optional(
        Type.Array(
          Type.Object({
            width: Type.Number(),
            unit: Type.Optional(Type.String()),
            frame: Type.Optional(Type.Object({ colour: Type.Optional(Type.String()), depth: Type.Union([Type.Number(), Type.Null()]) })),
          }),
        ),
      ),
      labels: Type.Optional(Type.Record(Type.String(), Type.String())),
      unit: Type.Optional(
        Type.Union([Type.Object({ metres: Type.Number(), note: Type.Optional(Type.String()) }), Type.Object({ feet: Type.Number() })]),
      ),
    }),
  };
  const accepted: [string, unknown, object][] = [
    ['what fits', { path: 'a', offset: 1 }, { path: 'a', offset: 1 }],
    ['a number in quotes', { path: 'a', offset: '12' }, { path: 'a', offset: 12 }],
    ['null for what is left out', { path: 'a', offset: null, kind: null, config: null }, { path: 'a', config: null }],
    [
      'null at every depth for what is left out',
      {
        path: 'a',
        sizes: [{ width: '3', unit: null, frame: { colour: null, depth: null } }],
        labels: { shelf: null, row: 'b' },
        unit: { metres: 2, note: null },
      },
      { path: 'a', sizes: [{ width: 3, frame: { depth: null } }], labels: { row: 'b' }, unit: { metres: 2 } },
    ],
    ['fields nobody knows, without them', { path: 'a', x: 1, __proto__: { y: 1 } }, { path: 'a' }],
  ];
  for (const [name, sent, args] of accepted)
    test(`accepts ${name}`, () => assert.deepEqual(checkArguments(probe, sent), { ok: true, args }));

  const refused: [string, unknown, RegExp][] = [
    ['text that is not JSON', '{"path": "a', /not valid JSON/],
    ['a list', ['a'], /must be a JSON object/],
    ['nothing', undefined, /path/],
    ['an empty path', { path: '' }, /path: /],
    ['null as a path', { path: null }, /path/],
    ['null at a depth for what is required', { path: 'a', sizes: [{ width: null }] }, /sizes\.0: .*width/],
    ['null in place of an element', { path: 'a', sizes: [{ width: 1 }, null] }, /sizes\.1: must be object/],
    ['another choice, naming all', { path: 'a', kind: 'three' }, /probe: kind: must be one of "one", "two"\. Expected/],
    ['a path that is too long', { path: 'x'.repeat(11) }, /path: /],
    ['a negative offset', { path: 'a', offset: -1 }, /offset: /],
    ['a wrong field inside', { path: 'a', deep: { a: 'x' } }, /deep\.a: /],
    ['a NUL character', { path: 'a\0b' }, /path: Text must not hold NUL characters/],
    ['an unpaired surrogate', { path: 'a\ud800' }, /path: Text must not hold .* unpaired surrogates/],
  ];
  for (const [name, sent, message] of refused) {
    test(`refuses ${name} with the expected form`, () => {
      const checked = checkArguments(probe, sent);
      assert.equal(checked.ok, false);
      assert.match((checked as { message: string }).message, message);
      assert.match((checked as { message: string }).message, /Expected: a JSON object with path, offset \(optional\)/);
    });
  }

  test('accepts missing arguments for a tool without fields', () => {
    for (const sent of [undefined, null, '', {}])
      assert.deepEqual(checkArguments({ name: 'list_files', parameters: Type.Object({}) }, sent), { ok: true, args: {} });
  });

  test('does not change the arguments', () => {
    const sent = { path: 'a', offset: '1', x: 1 };
    checkArguments(probe, sent);
    assert.deepEqual(sent, { path: 'a', offset: '1', x: 1 });
  });
});
