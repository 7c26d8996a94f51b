/** Figures of two joined tables: a quantity at the prices of the other table, and a plan against what was spent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { opening } from './tables.ts';

async function remarksOf(kinds: RegExp, files: Record<string, string>): Promise<string[]> {
  const [left, right] = Object.entries(files).map(([name, text]) => ({ name, open: opening(Buffer.from(text)) }));
  const { remarks } = await joinTables(left!, right!);
  return remarks.filter(({ kind }) => kinds.test(kind)).map(({ text }) => text);
}

const garden = 'plant;name;bed;quantity\n011;Fern;North;4\n012;Rose;South;10\n013;Lily;South;\n014;Iris;North;5\n015;Aster;South;6\n';

test('a key with two prices is valued at both, once, and rows without a quantity or a price are named', async () => {
  const prices = 'plant;unit_price\n011;2,50\n012;3,00\n012;3,60\n013;9,00\n014;1,20\n099;8,00\n';
  assert.deepEqual(await remarksOf(/join_product|join_unpriced|join_groups/, { 'garden.csv': garden, 'prices.csv': prices }), [
    'quantity × unit_price (garden.csv with prices.csv) adds up to 46 with the lowest and 52 with the highest unit_price of each key over 3 rows: 012 (Rose) 30 (65.2 %), 011 (Fern) 10 (21.7 %) and 014 (Iris) 6 (13 %). The largest row is row 2 (012): 10 × 3 = 30, bed South.',
    'unit_price of prices.csv has several values for 1 key: 012 (Rose) 3 in row 2 and 3.60 in row 3, which makes 30 or 36; together 6 more with the highest. All other products use the lowest.',
    'Not in quantity × unit_price, because they have no unit_price: 015 (Aster) (quantity 6 in 1 row).',
    'Not in quantity × unit_price, because quantity is missing: 013 (Lily).',
    'In all, 2 rows of garden.csv have no quantity × unit_price.',
    'quantity × unit_price by bed (from garden.csv): South 30 (65.2 %, 1 row) and North 16 (34.8 %, 2 rows).',
  ]);
});

test('names of columns are read without their accents too', async () => {
  for (const [quantity, price] of [
    ['quantite', 'prix_unitaire_eur'],
    ['quantité', 'prix_unitaire'],
    ['quantita', 'prezzo'],
    ['Stueck', 'Stueckpreis'],
    ['quantidade', 'preco'],
  ]) {
    const stock = `reference;${quantity}\n011;4\n012;10\n013;5\n014;6\n015;7\n`;
    const prices = `reference;${price}\n011;2,50\n012;3,00\n013;1,00\n014;2,00\n015;3,00\n`;
    const [product] = await remarksOf(/join_product/, { 'stock.csv': stock, 'prices.csv': prices });
    assert.match(product ?? '', new RegExp(`^${quantity} × ${price} .* adds up to 78 over 5 rows`));
  }
});

const budget = 'line,title,budget\n01,Hall,900\n02,Music,400\n03,Print,250\n04,Food,600\n05,Web,120\n06,Post,80\n';
const spent =
  'no,date,line,spent\nV1,2024-03-01,01,700\nV2,2024-03-04,02,390\nV3,2024-03-05,02,20\nV4,2024-03-06,04,590\nV5,2024-03-09,04,15\nV5,2024-03-09,04,15\nV6,2024-03-11,77,33\nV7,2024-03-12,88,12\n';

test('a plan is compared with the rows that other figures count, and keys that only the others put over it are named apart', async () => {
  const remarks = await remarksOf(/join_over|join_difference|join_under|join_unplanned/, { 'plan.csv': budget, 'spent.csv': spent });
  assert.deepEqual(remarks, [
    'spent is above budget for 2 keys, together 15, without 1 exact duplicate: 02 (Music) by 10 (2.5 %) and 04 (Food) by 5 (0.8 %).',
    'budget is 2,350 and spent 1,760 (74.9 %), without 1 exact duplicate: budget − spent = 590 (25.1 %) in all; over the keys of plan.csv spent is 1,715 and the difference 635 (27 %).',
    'spent is below budget for 4 keys, together 650: 03 (Print) by 250 (nothing at all), 01 (Hall) by 200 (22.2 %), 05 (Web) by 120 (nothing at all) and 06 (Post) by 80 (nothing at all).',
  ]);
  const [over] = await remarksOf(/join_over/, { 'plan.csv': budget.replace('04,Food,600', '04,Food,610'), 'spent.csv': spent });
  assert.equal(
    over,
    'spent is above budget for 1 key, without 1 exact duplicate: 02 (Music) by 10 (2.5 %). With what the figures leave out, also 04 (Food) by 10.',
  );
});

test('what was spent without a key counts in all, and is named', async () => {
  const [difference] = await remarksOf(/join_difference/, { 'plan.csv': budget, 'spent.csv': `${spent}V8,2024-03-12,,40\n` });
  assert.equal(
    difference,
    'budget is 2,350 and spent 1,800 (76.6 %) (40 of it without line, in row 9), without 1 exact duplicate: budget − spent = 550 (23.4 %) in all; over the keys of plan.csv spent is 1,715 and the difference 635 (27 %).',
  );
});

test('keys without a partner are told with their figures and the sum of these, without repeated rows', async () => {
  assert.deepEqual(await remarksOf(/join_only/, { 'plan.csv': budget, 'spent.csv': spent.replaceAll('04,15', '66,15') }), [
    'Only in plan.csv, not in spent.csv: 3 keys (03 (Print, budget 250), 05 (Web, budget 120) and 06 (Post, budget 80); together budget 450).',
    'Only in spent.csv, not in plan.csv: 3 keys (66 (rows 5 and 6, spent 15), 77 (row 7, spent 33) and 88 (row 8, spent 12); together spent 60).',
  ]);
});

test('a row without a quantity is told apart from its key, and changed values with how many rose and by how much', async () => {
  const prices = 'code,price\n01,10\n02,3\n03,2\n';
  const sold = 'day,code,units\n1 May 2024,01,4\n2 May 2024,02,2\n3 May 2024,01,\n4 May 2024,03,5\n5 May 2024,02,1\n6 May 2024,01,3\n';
  assert.deepEqual(await remarksOf(/join_unpriced/, { 'sold.csv': sold, 'prices.csv': prices }), [
    'Not in units × price, because units is missing: row 3 of 01.',
  ]);
  assert.deepEqual(await remarksOf(/join_values/, { 'old.csv': prices, 'new.csv': 'code,price\n01,11\n02,2.5\n03,2\n' }), [
    'price differs for 2 of 3 common keys (old.csv and new.csv): 01 10 and 11 (+1) and 02 3 and 2.5 (−0.50); 1 higher and 1 lower in new.csv, on average by +0.25.',
  ]);
});

test('rows are counted beside keys, repeated keys are told with what differs, and values below zero with the sum without them', async () => {
  const stock =
    'code,item,room,units\n01,Saw,North,4\n02,Axe,South,-2\n01,Saw,South,6\n03,Rod,North,5\n04,Pin,North,8\n05,Cap,South,1\n06,Lid,North,9\n07,Key,South,2\n';
  const prices = 'code,price\n01,10\n02,3\n03,2\n04,1\n05,7\n06,4\n';
  const said = await remarksOf(/^join$|join_repeats|zeros/, { 'stock.csv': stock, 'prices.csv': prices });
  assert.deepEqual(said, [
    'stock.csv and prices.csv are joined on code: 6 of 7 keys of stock.csv (7 of 8 rows) are in prices.csv, which has 6 keys.',
    'In stock.csv 01 occurs 2 times (rows 1 and 3: room North and South, units 4 and 6).',
    'units × price is below zero for 02 (Axe) (-6); without what is below zero the sum is 161.',
  ]);
});

test('numbers with wide gaps under one general name are a common key, running numbers are none', async () => {
  const items = (numbers: number[], column: string) => `Nr;${column}\n${numbers.map((n, i) => `${n};${i * 7 + 3}`).join('\n')}\n`;
  const [some, others] = [
    [412, 977, 1530, 2210, 3904, 5017],
    [977, 412, 2210, 1530, 5017, 6120],
  ];
  const joined = await remarksOf(/^join/, { 'stock.csv': items(some!, 'Menge'), 'prices.csv': items(others!, 'Preis') });
  assert.match(joined.join('\n'), /joined on Nr: 5 of 6 keys/);
  const running = await remarksOf(/^join/, { 'a.csv': items([1, 2, 3, 4, 5, 7], 'Menge'), 'b.csv': items([1, 2, 3, 4, 5, 6], 'Preis') });
  assert.deepEqual(running, []);
});
