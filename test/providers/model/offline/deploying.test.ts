/** The offline model publishes: it writes the page that the task contains, then calls create_deployment once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { makePlan } from '../../../../src/providers/model/offline/planning.ts';
import { offlineReply } from '../../../../src/providers/model/offline/reply-job.ts';
import type { ModelMessage, ToolOffer } from '../../../../src/providers/model/port.ts';

const offer = (name: string, ...required: string[]): ToolOffer => ({
  name,
  description: name,
  parameters: { type: 'object', properties: Object.fromEntries(required.map((field) => [field, { type: 'string' }])), required },
});
const offers = [
  offer('list_files'),
  offer('write_file', 'path', 'content'),
  offer('create_deployment', 'target'),
  offer('finish', 'summary'),
];

/** The calls for a prompt except list_files, and the final answer. */
function work(prompt: string, { failing = '', withheld = '' } = {}): { calls: [string, any][]; closing: string } {
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  const calls: [string, any][] = [];
  const tools = offers.filter(({ name }) => name !== withheld);
  for (let turn = 0; turn < 10; turn++) {
    const why = withheld === '' ? [] : [{ name: withheld, scope: 'workspaces.write' }];
    const { toolCalls } = offlineReply({ system: '', messages, tools, withheld: why, maxOutputTokens: 1_000 });
    messages.push({ role: 'assistant', text: '', toolCalls });
    for (const { id, name, arguments: args } of toolCalls) {
      if (name === 'finish') return { calls, closing: (args as { summary: string }).summary };
      if (name !== 'list_files') calls.push([name, args]);
      const result =
        name === 'list_files' ? { files: [] } : { status: 'live', mode: 'live', target: 'a host', url: 'https://shop.example/' };
      messages.push({ role: 'tool', callId: id, name, result: name === failing ? { error: 'no' } : result, isError: name === failing });
    }
  }
  assert.fail('no end');
}

const deployed: [string, { target: string; config_id?: string }, RegExp | null][] = [
  ['Write index.html with "<h1>Hi</h1>" and deploy it to netlify.', { target: 'netlify' }, /^<h1>Hi<\/h1>$/],
  ['Write index.html with <h1>Hi</h1> and then deploy it to Vercel', { target: 'vercel' }, /^<h1>Hi<\/h1>$/],
  [
    'Create a simple web page that says "Hello, world" and publish it on Cloudflare Pages.',
    { target: 'cloudflare' },
    /<h1>Hello, world<\/h1>/,
  ],
  [
    'Build a landing page titled "Ann & Bob" with the text "Open daily" and deploy it to workers',
    { target: 'cloudflare' },
    /<h1>Ann &#38; Bob<\/h1>\n<p>Open daily</,
  ],
  ['Write a page and deploy it to netlify', { target: 'netlify' }, /offline model wrote this page/],
  ['Write a page about sour dough and deploy it to netlify.', { target: 'netlify' }, /<title>sour dough<\/title>/],
  ['Deploy the workspace to vercel with cfg_01abc.', { target: 'vercel', config_id: 'cfg_01abc' }, null],
  ['Bitte schreibe eine Seite mit dem Text "Hallo" und veröffentliche sie bei netlify.', { target: 'netlify' }, /<h1>Hallo<\/h1>/],
];

for (const [prompt, args, content] of deployed) {
  test(`writes and publishes: ${prompt}`, () => {
    const { calls, closing } = work(prompt);
    assert.deepEqual(calls.at(-1), ['create_deployment', args]);
    assert.match(closing, /^Published at a host: https:\/\/shop\.example\/$/m);
    if (content === null) return assert.equal(calls.length, 1);
    assert.deepEqual([calls.length, calls[0]![0], calls[0]![1].path], [2, 'write_file', 'index.html']);
    assert.match(calls[0]![1].content, content);
    assert.equal(makePlan({ task: prompt, files: [], maxAgents: 3 }).agents.length, 1);
  });
}

test('without a clear order nothing is published, and the final answer has the reason', () => {
  for (const [prompt, why] of [
    ['Do not deploy it to netlify.', /create_deployment was not called, because the task says not to/],
    ['If the tests pass, deploy it to vercel.', /depends on a condition/],
    ['Deploy the workspace.', /names no target/],
    ['Should I deploy to netlify?', /works by fixed rules/],
  ] as const) {
    const { calls, closing } = work(prompt);
    assert.deepEqual(calls, [], prompt);
    assert.match(closing, why);
  }
  const prompt = 'Write index.html with "Hi" and deploy it to netlify.';
  const unwritten = work(prompt, { failing: 'write_file' });
  assert.deepEqual(
    unwritten.calls.map(([name]) => name),
    ['write_file'],
  );
  assert.match(unwritten.closing, /create_deployment was not called, because a file was not written/);
  assert.match(work(prompt, { withheld: 'create_deployment' }).closing, /needs the scope workspaces\.write/);
});

test('a page without a given text is written only for a deployment', () => {
  assert.deepEqual(work('Build a landing page').calls, []);
  assert.match(work('Write a page that says "Hi"').calls[0]![1].content, /<h1>Hi<\/h1>/);
});
