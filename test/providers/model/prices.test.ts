/** Costs in whole numbers, and names of the listed models. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { costMillicents, priceOf } from '../../../src/providers/model/prices.ts';

test('a dated, tagged or routed name has the price of its model', () => {
  const price = priceOf('gpt-5');
  for (const name of ['gpt-5-2025-08-07', 'openai/gpt-5', 'GPT-5:free', 'gpt-5@eu', 'gpt-5-chat-latest'])
    assert.equal(priceOf(name), price, name);
});

test('a smaller, larger or other version of a model never has its price', () => {
  assert.notEqual(priceOf('gpt-5-mini-2025-08-07'), priceOf('gpt-5'));
  assert.notEqual(priceOf('claude-opus-4-5-20251101'), priceOf('claude-opus-4-20250514'));
  for (const name of [
    'gpt-5.9',
    'gpt-55',
    'claude-sonnet-9',
    'claude-opus-4-99',
    'gpt-oss-20b',
    'llama3',
    '',
    '/',
    '__proto__',
    'constructor',
  ])
    assert.equal(priceOf(name), undefined, name);
});

test('a million tokens in and out cost exactly the listed price', () => {
  assert.equal(costMillicents(priceOf('gpt-5')!, 1_000_000, 0, 1_000_000), (1.25 + 10) * 100_000);
  assert.equal(costMillicents(priceOf('gpt-5')!, 1_000_000, 1_000_000, 0), 0.125 * 100_000);
});

test('any count of tokens costs a whole, never negative number that grows with the tokens', () => {
  const tokens = fc.integer({ min: 0, max: 100_000_000 });
  fc.assert(
    fc.property(tokens, tokens, tokens, (input, cached, output) => {
      const price = priceOf('gpt-5-nano')!;
      const cost = costMillicents(price, input, cached, output);
      assert.ok(Number.isSafeInteger(cost) && cost >= 0);
      assert.ok(costMillicents(price, input, cached, output + 1_000_000) > cost);
    }),
  );
});
