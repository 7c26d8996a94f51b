/** Questions on a status, a measure or a quotient: a finding on another measure is no answer to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const asked = async (prompt: string, files: Record<string, string>) => {
  const report = (await runAgent(prompt, { files })).workspace.text('report.md');
  return report.slice(report.indexOf('## What was asked'), report.indexOf('## What stands out'));
};
const tickets = Array.from(
  { length: 24 },
  (_, i) => `T${i},2025-0${1 + (i % 3)}-1${i % 9},${i % 2 ? 'Opera' : 'Jazz'},${1 + (i % 4)},20,${i % 8 === 2 ? 'refunded' : 'paid'}`,
);
const sales = { 'tickets.csv': `ticket,date,show,quantity,unit_price_eur,status\n${tickets.join('\n')}\n` };

test('a question on a status is answered with the rows of that status and their amounts', async () => {
  const answer = await asked('How much was given back as refunds? See tickets.csv', sales);
  assert.match(
    answer,
    /refunds\?\*\*\n\n- status is refunded in 3 rows of 24 \(12\.5 %\); in them quantity × unit.price.eur adds up to 180/,
  );
  assert.doesNotMatch(answer, /over all|without/);
});

test('a question on revenue is not answered with quantities', async () => {
  const answer = await asked('What was our revenue per show and per month? See tickets.csv', sales);
  assert.match(answer, /By show, Opera has the largest sum of quantity × unit.price.eur, .* Opera 720 /);
  assert.doesNotMatch(answer, /- quantity by show|most frequent|- Mean unit|By status/);
});

test('a question on articles is answered with the lines of the orders, not with the orders', async () => {
  const orders = Array.from({ length: 10 }, (_, i) => ({
    order: `K${i}`,
    customer: { name: i % 2 ? 'Ines' : 'Omar' },
    total: 30 + i,
    lines: ['Rope', 'Tent', 'Lamp'].map((name, j) => ({ name, qty: 1 + j + (i % 3) })),
  }));
  const answer = await asked('Which products sell best? See camp.json', { 'camp.json': JSON.stringify(orders) });
  assert.match(answer, /By name, Lamp has the largest qty/);
  assert.doesNotMatch(answer, /customer|total/);
});

test('a question on use is answered with what was used, one per unit with the quotient', async () => {
  const rows = Array.from(
    { length: 24 },
    (_, i) => `${i % 2 ? 'Linz' : 'Graz'},${String(1 + (i >> 1)).padStart(2, '0')}.2024,${900 + i * 7},${300 + i * 3}`,
  );
  const files = { 'gas.csv': `Standort,Monat,Verbrauch_m3,Kosten_EUR\n${rows.join('\n')}\n` };
  const most = await asked('Which sites use the most? See gas.csv', files);
  assert.match(most, /Verbrauch.m3/);
  assert.doesNotMatch(most, /largest Kosten/);
  assert.doesNotMatch(await asked('What do we pay per m2? See gas.csv', files), /largest Kosten|adds up to/);
});
