/** Values that are wrong by a factor of 10, 100 or 1000. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

async function textsOf(text: string, kind: string): Promise<string[]> {
  const { remarks } = await profileText(text);
  return remarks.filter((remark) => remark.kind === kind).map((remark) => remark.text);
}

/** Litres at about 1.70 each; `wrong` replaces the litres of one row. */
function fuel(wrong: Record<number, number>): string {
  const rows = Array.from({ length: 20 }, (_, i) => {
    const litres = (i < 10 ? 100 : 40) + (i % 10) * 2;
    const price = 1.7 + (i % 3) / 20;
    const month = `2024-0${(i % 10) < 5 ? 1 : 2}`;
    return `${i < 10 ? 'truck' : 'van'},${month},${wrong[i] ?? litres},${(litres * price).toFixed(2)}`;
  });
  return `vehicle,month,litres,cost\n${rows.join('\n')}\n`;
}

test('a value that is ten times too large for its neighbour is named, and sum and ratio are told without the error', async () => {
  assert.deepEqual(await textsOf(fuel({ 12: 440 }), 'factor_error'), [
    'Probably a wrong unit or decimal in litres, to be checked: row 13 (2024-01, van) has 440, about 10 times too large for its cost 74.80: cost per litres is 0.17, in 9 other rows of vehicle van 1.70 to 1.80, and 44 would fit.',
    'With this value corrected, litres adds up to 1,580 instead of 1,976: van 490 instead of 886, 2024-01 740 instead of 1,136. cost per litres over all rows is then 1.75 instead of 1.40; by vehicle: van 1.75 (0.9675 as written), truck 1.75.',
  ]);
});

test('a factor of 1000, and a value that is too small, are found likewise', async () => {
  assert.match(
    (await textsOf(fuel({ 4: 108_000 }), 'factor_error'))[0]!,
    /row 5 .* has 108,000, about 1,000 times too large .* 108 would fit/,
  );
  assert.match((await textsOf(fuel({ 4: 1.08 }), 'factor_error'))[0]!, /row 5 .* has 1\.08, about 100 times too small .* 108 would fit/);
});

test('the ratio of the values as written has a note', async () => {
  const ratios = await textsOf(fuel({ 4: 1080 }).replace('litres', 'km'), 'ratio');
  assert.ok(ratios.length > 0);
  for (const text of ratios) assert.match(text, /These figures contain the probably wrong values of km as written\.$/);
});

test('wide ratios, a large row with a large neighbour, and odd values without a factor are no factor errors', async () => {
  const flats = Array.from(
    { length: 40 },
    (_, i) => `F${i},${'NSE'[i % 3]},${20 + ((i * 37) % 150)},${(20 + ((i * 37) % 150)) * (6 + ((i * 7) % 20))}`,
  );
  assert.deepEqual(await textsOf(`flat,district,sqm,rent\n${flats.join('\n')}\n`, 'factor_error'), []);
  const bulk = fuel({}).replace('truck,2024-01,104,176.80', 'truck,2024-01,1040,1768.00');
  assert.deepEqual(await textsOf(bulk, 'factor_error'), []);
  assert.deepEqual(await textsOf(fuel({ 4: 430 }), 'factor_error'), []);
});

test('a column that does not follow the other, such as quantity and unit price, shows no factor error', async () => {
  const orders = Array.from({ length: 30 }, (_, i) => `W${i},Kitchen,${i === 7 ? 300 : 1 + ((i * 5) % 4)},${20 + ((i * 7) % 30)}`);
  for (const column of ['unit_price_eur', 'weight'])
    assert.deepEqual(await textsOf(`order,category,quantity,${column}\n${orders.join('\n')}\n`, 'factor_error'), []);
});

test('a whole number that would need more digits than it has, and a total beside its number of entries, show no factor error', async () => {
  const essays = Array.from({ length: 30 }, (_, i) => `E${i},${i === 8 ? 12 : 1_003 + i * 17},${50 + i}`);
  assert.deepEqual(await textsOf(`essay,words,score\n${essays.join('\n')}\n`, 'factor_error'), []);
  const orders = Array.from({ length: 30 }, (_, i) => ({
    id: `O${i}`,
    total: i === 8 ? 860 : 8 + (1 + (i % 4)) * 2,
    lines: Array.from({ length: i === 8 ? 1 : 1 + (i % 4) }, (_, n) => ({ sku: `S${n}`, qty: 1 })),
  }));
  const remarks = (await profileText(JSON.stringify(orders), 'orders.json')).remarks;
  assert.deepEqual(
    remarks.filter(({ kind }) => kind === 'factor_error'),
    [],
  );
});
