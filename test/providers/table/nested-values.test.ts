/** Records with lists: the value of each record, fields that are null or not there, and groups that are the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from '../../../src/providers/model/offline/findings.ts';
import { profileText } from './tables.ts';

const names: Record<string, string> = { '01': 'Ada', '02': 'Bo', '03': 'Cy' };
const order = (no: string, customer: string, items: [string, number, number][], more: object = {}) => ({
  no,
  customer: { id: customer, name: names[customer] },
  ...more,
  items: items.map(([item, qty, unit_price]) => ({ item, qty, unit_price })),
});
const orders = [
  order(
    'B1',
    '01',
    [
      ['Cup', 2, 5],
      ['Jug', 1, 12],
    ],
    { note: 'by post' },
  ),
  order('B2', '02', [['Cup', 10, 5]], { note: 'abroad' }),
  order(
    'B3',
    '03',
    [
      ['Jug', 3, 12],
      ['Cup', 1, 5],
    ],
    { note: null },
  ),
  order('B4', '01', [], { note: 'by post' }),
  order('B5', '02', [['Jug', -1, 12]]),
  order('B6', '01', [['Cup', 4, 5]], { note: 'later' }),
];

test('the amount of each record is told on average, with and without the records that have none', async () => {
  const { remarks } = await profileText(JSON.stringify(orders), 'orders.json');
  assert.deepEqual(
    remarks.filter(({ kind }) => kind === 'per_record').map(({ text }) => text),
    [
      'qty × unit_price for each no: mean 20.17 over 6 (121 ÷ 6); 24.20 over the 5 that have items with a value. Largest: B2 50, B3 41 and B1 22; smallest: B5 -12.',
    ],
  );
});

test('a field that is null in one record and not there in another is told so', async () => {
  const { warnings } = await profileText(JSON.stringify(orders), 'orders.json');
  assert.ok(warnings.includes('note is null in row 3, and the field is not there in row 5.'), warnings.join('\n'));
});

test('the figures by the number and by the name of one thing are told once, by its name', async () => {
  const [lines] = (await profileText(JSON.stringify([...orders, ...orders.map((each) => ({ ...each, no: `C${each.no}` }))]), 'orders.json'))
    .nested;
  const said = findings(lines!).join('\n');
  assert.match(said, /^By customer\.name, /m);
  assert.doesNotMatch(said, /customer\.id(?! holds codes|, customer\.name)/);
});

test('an entry is named by its record and its contents, and a number unlike the others of its thing is told', async () => {
  const many = Array.from({ length: 12 }, (_, i) =>
    order(`D${i}`, '01', [
      ['Cup', (i % 4) + 1, 5],
      ['Jug', i === 7 ? 60 : (i % 3) + 1, 12],
    ]),
  );
  const [lines] = (await profileText(JSON.stringify([...many, order('D20', '02', [['Cup', 3, null as never]])]), 'orders.json')).nested;
  const said = lines!.remarks.map(({ text }) => text);
  assert.ok(said.includes('unit_price is missing in row 25 (D20, Cup, qty 3).'), said.join('\n'));
  assert.ok(
    said.includes('Outlier within item Jug: row 16 (D7, Jug, qty 60) has qty 60; its other rows have 1 to 3.') ||
      said.some((text) => text.startsWith('Outlier: row 16 has qty 60, far from the usual') && text.includes('(no D7, item Jug, ')),
    said.join('\n'),
  );
});

test('a total of a record is compared with the amounts of its list, whatever else its lines have', async () => {
  const bookings = Array.from({ length: 8 }, (_, i) => ({
    booking: `B${i}`,
    lines: [1, 2].map((n) => ({ item: `I${n}`, qty: n, days: 3, rate: 4 + i, amount: n * 3 * (4 + i) })),
    total: 9 * (4 + i) + (i === 5 ? 20 : 0),
  }));
  const { remarks } = await profileText(JSON.stringify(bookings), 'bookings.json');
  assert.deepEqual(
    remarks.filter(({ kind }) => kind.startsWith('relation')).map(({ text }) => text),
    [
      'total = sum of amount of its lines in 7 of 8 rows, but not in row 6 (B5): 81, written 101 (difference 20). In all, total is 560 and its lines 540: 20 more than the lines.',
    ],
  );
});

test('a mean price over lines is told weighted by their quantity too, unless a quantity is below zero', async () => {
  const saidOf = async (some: object[]) => findings((await profileText(JSON.stringify(some), 'orders.json')).nested[0]!).join('\n');
  const sold = orders.filter(({ no }) => no !== 'B5');
  assert.match(await saidOf(sold), /^Mean unit_price weighted by qty: 6\.33 \(133 ÷ 21\); over the rows, without weights, 7\.33\.$/m);
  assert.doesNotMatch(await saidOf(orders), /weighted/);
});
