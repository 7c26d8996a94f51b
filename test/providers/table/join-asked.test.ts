/** What a task asks of two joined tables: a division by key, amounts at exchange rates, and rows that cannot be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import type { JoinBounds } from '../../../src/providers/table/join-figures.ts';
import { opening } from './tables.ts';

async function textsOf(kind: RegExp, files: Record<string, string>, bounds: JoinBounds = {}): Promise<string[]> {
  const [left, right] = Object.entries(files).map(([name, text]) => ({ name, open: opening(Buffer.from(text)) }));
  const { remarks } = await joinTables(left!, right!, undefined, bounds);
  return remarks.filter((remark) => kind.test(remark.kind)).map(({ text }) => text);
}

const halls =
  'Raum,Art,Plätze,Stunden offen\nA1,Saal,80,40\nB2,Saal,60,50\nC3,Kino,30,20\nD4,Saal,90,10\nE5,Kino,40,25\nF6,Bad,20,15\nG7,Saal,70,30\n';
const events = [
  'E1,2024-05-02,18:00,A1,Saal,60',
  'E2,2024-05-03,18:00,B2,Saal,75',
  'E3,2024-05-03,19:10,A1,Saal,50',
  'E4,2024-05-03,20:00,A1,Saal,45',
  'E5,2024-05-04,18:00,C3,Saal,20',
  'E6,2024-05-05,18:00,E5,Kino,10',
  'E6,2024-05-05,18:00,E5,Kino,10',
  'E7,2024-05-06,18:00,B2,Saal,25',
  'E8,2024-05-07,18:00,D4,Saal,5',
  'E9,2024-06-01,18:00,D4,Saal,5',
  'E10,2024-05-08,18:00,X9,Saal,7',
];
const files = { 'events.csv': `no,day,at,Raum,kind,Besucher\n${events.join('\n')}\n`, 'rooms.csv': halls };
const may = { from: '2024-05-01', to: '2024-05-31' };

test('a division of columns of two tables is told by key, over the rows that count, with the keys that have none', async () => {
  assert.deepEqual(await textsOf(/asked_ratio/, files, { period: may, ratio: { of: 'Besucher', per: 'Stunden offen', times: 10 } }), [
    'Besucher per 10 Stunden offen by Raum (events.csv and rooms.csv, without 1 exact duplicate and 1 row with day outside of 2024-05-01 to 2024-05-31), the highest first: A1 38.75 (155 ÷ 40, 3 rows), B2 20 (100 ÷ 50, 2 rows), C3 10 (20 ÷ 20, 1 row), D4 5 (5 ÷ 10, 1 row) and E5 4 (10 ÷ 25, 1 row). Together 20 (290 ÷ 145 × 10). No Besucher: F6, Stunden offen 15 and G7, Stunden offen 30.',
  ]);
});

test('rows above a capacity, close in time above it together, and of another kind than their key are named', async () => {
  assert.deepEqual(await textsOf(/join_excess|join_conflicts|join_inactive/, files), [
    'Besucher is above Plätze of rooms.csv: row 2 (E2) of B2: 75 with Plätze 60.',
    'Rows close in time that are together above Plätze of rooms.csv: row 3 (E3) and row 4 (E4) of A1, 50 minutes apart on 2024-05-03: 50 and 45, together 95, with Plätze 80.',
    'kind differs from Art of rooms.csv in 1 row: row 5 (E5) of 2024-05-04 of C3 has Saal with Besucher 20, but its Art is Kino.',
    'In rooms.csv of a kind that has no row in events.csv at all: F6 (no key with Art Bad has a row).',
  ]);
});

test('a key of one table whose rows repeat is named with its rows and their sum', async () => {
  const [, unknown] = await textsOf(/join_only/, { 'rooms.csv': halls, 'events.csv': files['events.csv'] });
  assert.equal(unknown, 'Only in events.csv, not in rooms.csv: 1 key (X9 (row 11, Besucher 7)).');
});

test('quantity × price of the lines of orders is converted, without cancelled, repeated and late orders', async () => {
  const order = (no: string, date: string, currency: string, status: string, lines: [item: string, qty: number, price: number][]) => ({
    no,
    date,
    currency,
    status,
    lines: lines.map(([item, qty, unit_price]) => ({ item, qty, unit_price })),
  });
  const orders = [
    order('O1', '2024-01-05', 'EUR', 'paid', [['Tea', 2, 10]]),
    order('O2', '2024-01-09', 'USD', 'paid', [
      ['Tea', 1, 10],
      ['Cup', 4, 5],
    ]),
    order('O3', '2024-01-20', 'USD', 'cancelled', [['Cup', 9, 5]]),
    order('O4', '2024-02-03', 'EUR', 'paid', [['Cup', 3, 4]]),
    order('O4', '2024-02-03', 'EUR', 'paid', [['Cup', 3, 4]]),
    order('O5', '2024-02-11', 'NOK', 'paid', [['Tea', 5, 100]]),
    order('O6', '2024-03-01', 'EUR', 'paid', [['Tea', 7, 10]]),
    order('O7', '2024-02-14', 'EUR', 'paid', [['Tea', 1, 10]]),
    order('O8', '2024-02-15', 'USD', 'paid', [['Tea', 1, 10]]),
  ];
  const rates = 'currency,rate_to_eur\nEUR,1\nUSD,0.9\n';
  const period = { from: '2024-01-01', to: '2024-02-29' };
  const found = await textsOf(/join_converted/, { 'orders.json': JSON.stringify(orders), 'rates.csv': rates }, { period });
  assert.match(
    found[0]!,
    /^qty × unit_price × rate_to_eur \(orders\.json: lines at the rates of rates\.csv\) is 78 EUR over 6 rows, without /,
  );
  assert.match(found[0]!, /Not converted: NOK 500, without a rate/);
  assert.ok(found.includes('qty × unit_price × rate_to_eur in EUR by item: Tea 48 (61.5 %) and Cup 30 (38.5 %).'), found.join('\n'));
});
