/** Records with lists of entries, of which one record is written twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbersOf, profileText } from './tables.ts';

const trips = (again: object) => {
  const records = Array.from({ length: 6 }, (_, i) => ({
    trip: `T-${i}`,
    driver: i % 2 ? 'Ana' : 'Piet',
    weight: i + 4,
    stops: [
      { place: 'Lund', parcels: i + 1 },
      { place: 'Umeå', parcels: 3 },
    ],
  }));
  return JSON.stringify([...records, { ...records[2], ...again }]);
};

test('the entries of a record that is left out as a duplicate are left out too', async () => {
  const profile = await profileText(trips({}), 'trips.json');
  assert.deepEqual(profile.basis?.left_out, [{ kind: 'duplicates', what: 'exact duplicate', count: 1, rows: [7] }]);
  const [stops] = profile.nested;
  assert.deepEqual(stops!.basis, {
    rows: 12,
    left_out: [{ kind: 'duplicates', what: 'entries of exact duplicates of records', count: 2, rows: [13, 14] }],
  });
  const { sum, all } = numbersOf(stops!, 'parcels');
  assert.deepEqual([sum, all?.sum], [39, 45]);
  assert.deepEqual(
    stops!.groups.find(({ by }) => by === 'driver')!.values.map(({ value, figures }) => [value, figures.parcels!.sum]),
    [
      ['Ana', 21],
      ['Piet', 18],
    ],
  );
});

test('entries count if only the record outside of its list is the same', async () => {
  const stops = [
    { place: 'Lund', parcels: 50 },
    { place: 'Kiel', parcels: 1 },
  ];
  const [nested] = (await profileText(trips({ stops }), 'trips.json')).nested;
  assert.equal(nested!.basis, undefined);
  assert.equal(numbersOf(nested!, 'parcels').sum, 90);
});

test('the total of a record is compared with its entries also if another record is written twice', async () => {
  const orders = Array.from({ length: 6 }, (_, i) => ({
    order: `O-${i}`,
    total: i === 4 ? 99 : (i + 1) * 7 + 12,
    lines: [
      { item: 'Tea', quantity: i + 1, unit_price: 7 },
      { item: 'Cup', quantity: 2, unit_price: 6 },
    ],
  }));
  const profile = await profileText(JSON.stringify([...orders, orders[1]]), 'orders.json');
  const [broken] = profile.remarks.filter(({ kind }) => kind === 'relation_broken');
  assert.match(
    broken!.text,
    /in 5 of 6 rows, but not in row 5 \(O-4\): 47, written 99 \(difference 52\)\. In all, total is 271 and its lines 219: 52 more than the lines\.$/,
  );
});

test('totals of records are compared with their entries also if two records have one number', async () => {
  const orders = Array.from({ length: 8 }, (_, i) => ({
    order: i === 5 ? 'O-4' : `O-${i}`,
    total: i === 2 ? 50 : (i + 1) * 7,
    lines: [{ item: 'Tea', quantity: i + 1, unit_price: 7 }],
  }));
  const { remarks } = await profileText(JSON.stringify(orders), 'orders.json');
  assert.equal(
    remarks.find(({ kind }) => kind === 'relation_broken')?.text,
    'total = sum of quantity × unit_price of its lines in 7 of 8 rows, but not in row 3 (O-2): 21, written 50 (difference 29). In all, total is 281 and its lines 252: 29 more than the lines.',
  );
});
