/** Every recorded conversation can be sent: providers refuse a whole conversation for one invalid part. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { toSdkMessages } from '../../../src/providers/model/conversation.ts';
import type { ModelMessage } from '../../../src/providers/model/port.ts';
import { text } from '../../support/openai-server.ts';
import { rigAt, served } from './support.ts';

const result = (callId: string, value: unknown, isError = false): ModelMessage => ({
  role: 'tool',
  callId,
  name: 't',
  result: value,
  isError,
});
const calling = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: ids.map((id) => ({ id, name: 't', arguments: {} })),
});

test('results follow their calls directly, whatever was recorded between', () => {
  const sent = toSdkMessages([calling('a', 'b'), { role: 'user', text: 'Hurry' }, result('b', 2), result('a', 1)]);
  assert.deepEqual(
    sent.map(({ role }) => role),
    ['assistant', 'tool', 'user'],
  );
  assert.deepEqual(
    (sent[1]!.content as { toolCallId: string; output: { value: unknown } }[]).map(({ toolCallId, output }) => [toolCallId, output.value]),
    [
      ['a', 1],
      ['b', 2],
    ],
  );
});

test('a call without a result gets a result that says so, and a result without a call is removed', () => {
  const sent = toSdkMessages([calling('a'), result('stray', 'x')]);
  assert.equal(sent.length, 2);
  assert.match(JSON.stringify(sent[1]), /No result was recorded/);
});

test('the same id in two turns keeps each result with its own call', () => {
  const sent = toSdkMessages([calling('a'), result('a', 'first'), calling('a'), result('a', 'second')]);
  assert.match(JSON.stringify(sent[1]), /first/);
  assert.match(JSON.stringify(sent[3]), /second/);
});

test('an error is sent as an error with its text', () => {
  const [, message] = toSdkMessages([calling('a'), result('a', { code: 7 }, true)]);
  assert.deepEqual((message!.content as { output: object }[])[0]!.output, { type: 'error-text', value: 'Error: {"code":7}' });
});

test('an unknown tool name is sent in characters that providers accept', () => {
  const [message] = toSdkMessages([{ role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'read file! 日本', arguments: null }] }]);
  assert.equal((message!.content as { toolName: string }[])[0]!.toolName, 'read_file____');
});

test('an empty assistant message is removed', () => {
  assert.deepEqual(toSdkMessages([{ role: 'assistant', text: ' ', toolCalls: [] }]), []);
});

const anyMessage: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text: fc.string() }),
  fc.record({
    role: fc.constant('assistant' as const),
    text: fc.string(),
    toolCalls: fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c'), name: fc.string(), arguments: fc.jsonValue() }), { maxLength: 2 }),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    callId: fc.constantFrom('a', 'b', 'c'),
    name: fc.string(),
    result: fc.jsonValue(),
    isError: fc.boolean(),
  }),
);

test('any recorded conversation is accepted by the endpoint', async (t) => {
  const server = await served(t, () => text('ok'));
  const rig = rigAt(server.url);
  const anyConversation = fc.array(anyMessage, { maxLength: 8 }).map((messages) => [{ role: 'user' as const, text: 'Begin' }, ...messages]);
  await fc.assert(
    fc.asyncProperty(anyConversation, async (messages) => {
      assert.equal((await rig.turn({ messages })).text, 'ok');
    }),
    { numRuns: 60 },
  );
});
