/** Answers of every accepted size, in pieces of every size. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { maxAnswerChars } from '../../../src/providers/model/reply.ts';
import { type Behaviour, callTool, deltaEvent, event, events, text, wholeAlthoughStreamed } from '../../support/openai-server.ts';
import { rigAt, served } from './support.ts';

const long = 'word '.repeat(20_000);
/** One character an event, as some endpoints send. */
const byCharacters: Behaviour = events(
  [...long.slice(0, 5_000)].map((content) => deltaEvent('m', { content })).join('') +
    `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
);
const escaped = JSON.stringify({ choices: [{ message: { content: 'ä'.repeat(100_000) }, finish_reason: 'stop' }] }).replaceAll(
  'ä',
  '\\u00e4',
);
const asEscapes: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(escaped);
};

test('an answer of 100 KB is accepted completely, for any token limit and any division into pieces', async (t) => {
  const server = await served(t, (_request, n) => [text(long), wholeAlthoughStreamed({ text: long }), byCharacters, asEscapes][n - 1]!);
  const rig = rigAt(server.url);
  for (const chars of [100_000, 100_000, 5_000, 100_000]) assert.equal((await rig.turn()).text.length, chars);
});

test('arguments of 100 KB are accepted completely', async (t) => {
  const server = await served(t, () => callTool('write_file', { path: 'a.md', content: long }));
  const { toolCalls } = await rigAt(server.url).turn({ tools: [{ name: 'write_file', description: 'x', parameters: { type: 'object' } }] });
  assert.equal((toolCalls[0]!.arguments as { content: string }).content, long);
});

test('an answer beyond the limit is refused with the reason', async (t) => {
  const server = await served(t, () => text('x'.repeat(maxAnswerChars + 1)));
  await assert.rejects(rigAt(server.url).turn(), /went on without end/);
});
