/** The offline model with tools of connected services and MCP servers: it carries out simple orders with them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { services } from '../../../../src/domains/integrations/services/catalogue.ts';
import { offlineReply } from '../../../../src/providers/model/offline/reply-job.ts';
import type { ModelMessage, ToolOffer } from '../../../../src/providers/model/port.ts';

const mcp = (name: string, properties: object, required: string[] = []): ToolOffer => ({
  name,
  description: name,
  parameters: { type: 'object', properties, required },
});
const offers: ToolOffer[] = [
  ...services.flatMap(({ tools }) => tools.map(({ name, description, parameters }) => ({ name, description, parameters }))),
  mcp('mcp_notes_add', { text: { type: 'string' }, count: { type: 'integer' }, urgent: { type: 'boolean' } }, ['text']),
  mcp('mcp_notes_list', {}),
  mcp('screenshot', { url: { type: 'string' }, full_page: { type: 'boolean' } }, ['url']),
  mcp('finish', { summary: { type: 'string' } }, ['summary']),
];

/** The calls for a prompt, and the final answer. Each call returns `{text: 'result of …'}`. */
function work(prompt: string, tools = offers): { calls: [string, object][]; closing: string } {
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  const calls: [string, object][] = [];
  for (let turn = 0; turn < 20; turn++) {
    const { toolCalls } = offlineReply({ system: '', messages, tools, maxOutputTokens: 1_000 });
    messages.push({ role: 'assistant', text: '', toolCalls });
    for (const { id, name, arguments: args } of toolCalls) {
      if (name === 'finish') return { calls, closing: (args as { summary: string }).summary };
      calls.push([name, args as object]);
      messages.push({ role: 'tool', callId: id, name, result: { text: `result of ${name}` }, isError: false });
    }
  }
  assert.fail('no end');
}

const orders: [string, [string, object][]][] = [
  ['Post "The build is done" to #general on Slack.', [['post_message', { channel: '#general', text: 'The build is done' }]]],
  ['Please post to #ops: all is well', [['post_message', { channel: '#ops', text: 'all is well' }]]],
  ['Take a screenshot of https://example.com/a.', [['screenshot', { url: 'https://example.com/a' }]]],
  ['Call screenshot with {"url": "https://example.com"}', [['screenshot', { url: 'https://example.com' }]]],
  ['Use the screenshot in the folder', []],
  ['Make a screenshot of the whole page https://example.com', [['screenshot', { url: 'https://example.com', full_page: true }]]],
  ['Create a channel #launch.', [['create_channel', { name: 'launch' }]]],
  ['Read the last 5 messages of #general', [['read_channel', { channel: '#general', limit: 5 }]]],
  [
    'Open an issue in acme/site titled "Login fails" with the body "Since today".',
    [['create_issue', { repository: 'acme/site', title: 'Login fails', body: 'Since today' }]],
  ],
  ['Read issue #12 of acme/site', [['read_issue', { repository: 'acme/site', number: 12 }]]],
  ['Check my inbox.', [['read_emails', {}]]],
  ['Read my latest 3 emails', [['read_emails', { max_results: 3 }]]],
  ['Search my inbox for "invoice"', [['search_inbox', { query: 'invoice' }]]],
  ['Search Notion for "roadmap"', [['search_pages', { query: 'roadmap' }]]],
  ['Refund payment pi_123abc', [['refund_payment', { payment_id: 'pi_123abc' }]]],
  ['List the last 10 payments', [['list_payments', { limit: 10 }]]],
  ['Create a payment link for "Coffee mug" at 12.50 EUR', [['create_payment_link', { name: 'Coffee mug', amount: 12.5, currency: 'eur' }]]],
  ['Send a WhatsApp message to +491701234567 saying "On my way"', [['send_message', { to: '+491701234567', text: 'On my way' }]]],
  ['Call mcp_notes_add with {"text": "a {b}", "count": 2}', [['mcp_notes_add', { text: 'a {b}', count: 2 }]]],
  ['Use the tool mcp_notes_add with text "hello" and count 3.', [['mcp_notes_add', { text: 'hello', count: 3 }]]],
  ['Use mcp_notes_add to add "buy milk"', [['mcp_notes_add', { text: 'buy milk' }]]],
  ['mcp_notes_list', [['mcp_notes_list', {}]]],
  ['Run read_channel with channel #general.', [['read_channel', { channel: '#general' }]]],
  [
    'Read my latest email and post it to #general.',
    [
      ['read_emails', {}],
      ['post_message', { channel: '#general', text: '{"text":"result of read_emails"}' }],
    ],
  ],
  [
    'Read my latest email, then open an issue in acme/site titled "Mail", and post "Done" to #general.',
    [
      ['read_emails', {}],
      ['create_issue', { repository: 'acme/site', title: 'Mail', body: '{"text":"result of read_emails"}' }],
      ['post_message', { channel: '#general', text: 'Done' }],
    ],
  ],
];

for (const [prompt, calls] of orders) {
  test(`carries out: ${prompt}`, () => {
    const done = work(prompt);
    assert.deepEqual(done.calls, calls);
    for (const [name] of calls) assert.match(done.closing, new RegExp(`${name} answered: .*result of ${name}`));
  });
}

for (const prompt of [
  'Do not post "x" to #general.',
  'If the build fails, post "x" to #general.',
  'Should I post "x" to #general?',
  'Never call mcp_notes_list.',
  'Call mcp_notes_add.',
  'Summarise the mails in mails.txt',
]) {
  test(`calls nothing for: ${prompt}`, () => assert.deepEqual(work(prompt).calls, []));
}

test('reports missing arguments, and why an order was not carried out', () => {
  assert.match(work('Call mcp_notes_add.').closing, /mcp_notes_add was not called, because these arguments are missing: text/);
  assert.match(work('Do not post "x" to #general.').closing, /post_message was not called, because the task says not to/);
});

test('tools that are not offered are not called', () => {
  assert.deepEqual(work('Post "x" to #general', offers.slice(-1)).calls, []);
});
