/** The offline model as the service calls it: plans by schema, counts of tokens, aborts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Plan } from '../../../src/domains/tasks/task/plan.ts';
import { planRequest, readPlan } from '../../../src/domains/tasks/task/plan.ts';
import { offlineModel } from '../../../src/providers/model/embedded.ts';

const sales = { name: 'sales.csv', type: 'text/csv', sizeBytes: 6000 };
const options = { signal: new AbortController().signal, idempotencyKey: 'k' };

async function planOf(prompt: string, files = [sales], maxAgents = 3): Promise<Plan> {
  const reply = await offlineModel().turn(
    planRequest({ prompt, config: { max_agents: maxAgents, auto_deploy: false, deploy_target: null } }, files),
    options,
  );
  const read = readPlan(reply, 100);
  if ('problem' in read) assert.fail(read.problem);
  assert.ok(read.plan.agents.length <= maxAgents);
  return read.plan;
}

const cases: [string, string, (typeof sales)[], string[]][] = [
  ['data and a question', 'Analyse sales.csv and tell me what stands out', [sales], ['analyst']],
  [
    'several files',
    'Give me one report on these files',
    [sales, { name: 'notes (old).txt', type: 'text/plain', sizeBytes: 10 }],
    ['analyst'],
  ],
  ['an analysis to be mailed', 'Analyse sales.csv and e-mail the report to ann@example.com', [sales], ['analyst', 'email']],
  ['a mail alone', 'E-mail the report to ann@example.com', [sales], ['email']],
  ['a mail about a file', 'Send the summary of "sales.csv" to ann@example.com', [sales], ['analyst']],
  ['an address', 'What does https://example.com/page say?', [], ['researcher']],
  ['a search', 'Research lighthouses of Ireland', [], ['researcher']],
  ['a website', 'Build a website for my bakery', [], ['builder']],
  ['a trade', 'Buy 10 shares of Acme stock', [], ['trader']],
  ['a post', 'Write a tweet about our launch', [], ['social']],
  ['a sum', 'What is 17% of 2,340?', [], ['analyst']],
];
for (const [what, prompt, files, types] of cases) {
  test(`${what} is planned for ${types.join(' then ')}`, async () => {
    assert.deepEqual(
      (await planOf(prompt, files)).agents.map(({ type }) => type),
      types,
    );
  });
}

test('the mailing agent waits for the analyst, whose instructions do not mention the mail', async () => {
  const { agents } = await planOf('Analyse sales.csv and e-mail the report to ann@example.com');
  assert.deepEqual(agents[1]!.after, [0]);
  assert.equal(agents[0]!.prompt, 'Analyse sales.csv');
  assert.match(agents[1]!.prompt, /E-mail the report to ann@example\.com/);
});

test('if one agent is allowed, it does both', async () => {
  const { agents } = await planOf('Analyse sales.csv and e-mail the report to ann@example.com', [sales], 1);
  assert.deepEqual(
    agents.map(({ type, prompt }) => [type, prompt]),
    [['analyst', 'Analyse sales.csv and e-mail the report to ann@example.com']],
  );
});

test('any prompt gets a plan that fits the schema', async () => {
  const piece = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('e-mail it to a@b.co', 'sales.csv', 'max_agents: 9', '- x (text/csv, 5 bytes)', '\n', 'search', 'report'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 10 }), fc.integer({ min: 1, max: 20 }), async (pieces, maxAgents) => {
      const prompt = pieces.join(' ');
      fc.pre(prompt.trim() !== '');
      const reply = await offlineModel().turn(
        planRequest({ prompt, config: { max_agents: maxAgents, auto_deploy: false, deploy_target: null } }, [sales]),
        options,
      );
      const read = readPlan(reply, maxAgents);
      assert.ok('plan' in read, JSON.stringify(read));
    }),
    { numRuns: 200 },
  );
});

test('it uses no tokens, costs nothing and streams its text', async () => {
  const pieces: string[] = [];
  const request = { system: 's'.repeat(400), messages: [{ role: 'user' as const, text: 'Hello' }], tools: [], maxOutputTokens: 100 };
  const reply = await offlineModel().turn(request, { ...options, onText: (piece) => pieces.push(piece) });
  assert.equal(pieces.join(''), reply.text);
  assert.match(reply.text, /offline model works by fixed rules/);
  assert.deepEqual([reply.costMillicents, reply.inputTokens, reply.outputTokens], [0, 0, 0]);
});

test('an aborted turn rejects', async () => {
  const request = { system: '', messages: [], tools: [], maxOutputTokens: 100 };
  await assert.rejects(offlineModel().turn(request, { ...options, signal: AbortSignal.abort() }), { name: 'AbortError' });
});
