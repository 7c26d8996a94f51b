/** Which prices are the amount of their row, so that they are added up, and which are the price of a unit or of a thing in a list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, profileText } from './tables.ts';

const day = (i: number) => `2025-03-${String(i + 1).padStart(2, '0')}`;
const rows = (header: string, of: (i: number) => (string | number)[]) =>
  [header, ...Array.from({ length: 24 }, (_, i) => of(i).join(','))].join('\n');

const amounts: { says: string; table: string; price: string }[] = [
  {
    says: 'of a session whose price rises with what was measured',
    table: rows('session,start,kwh,price_eur', (i) => [`S${i}`, day(i), 5 + ((i * 7) % 31), ((5 + ((i * 7) % 31)) * 0.49).toFixed(2)]),
    price: 'price_eur',
  },
  {
    says: 'of a wash whose price depends on its programme, and the water too',
    table: rows('cycle_no,date,programme,water_l,price_gbp', (i) => [
      4100 + ((i * 17) % 900),
      day(i),
      ['Quick', 'Mixed', 'Duvet'][i % 3]!,
      [35, 48, 89][i % 3]! + (i % 2),
      [3.2, 4.5, 8][i % 3]!,
    ]),
    price: 'price_gbp',
  },
  {
    says: 'of a ride without any quantity beside it',
    table: rows('ride_id,date,driver,preis', (i) => [`R-${i * 13}`, day(i), ['Ada', 'Bo'][i % 2]!, 12 + ((i * 5) % 17)]),
    price: 'preis',
  },
];
for (const { says, table, price } of amounts)
  test(`a price is the amount of its row: ${says}`, async () => {
    const profile = await profileText(table);
    assert.equal(column(profile, price).role, 'measure');
    assert.deepEqual(
      profile.columns.filter(({ derived }) => derived).map(({ name }) => name),
      [],
      'it is multiplied with no quantity',
    );
    assert.deepEqual(profile.warnings, []);
  });

const prices: { says: string; table: string; price: string }[] = [
  {
    says: 'of a unit, which varies without the quantity',
    table: rows('fill_id,date,litres,price', (i) => [`F${i * 3}`, day(i), 20 + ((i * 7) % 40), (1.6 + (i % 5) / 50).toFixed(2)]),
    price: 'price',
  },
  {
    says: 'of a list of things with the date of their last change',
    table: rows('sku,updated,brand,price', (i) => [`A-${i}`, day(i), ['K', 'L'][i % 2]!, 10 + ((i * 5) % 17)]),
    price: 'price',
  },
  {
    says: 'of a share, day by day',
    table: rows('date,symbol,price', (i) => [day(i), 'ACME', 100 + ((i * 5) % 17)]),
    price: 'price',
  },
  {
    says: 'of one piece beside the number of pieces',
    table: rows('order_id,date,qty,price', (i) => [`O${i * 3}`, day(i), 1 + ((i * 7) % 5), 3 + ((i * 5) % 17)]),
    price: 'price',
  },
];
for (const { says, table, price } of prices)
  test(`a price is no amount of its row: ${says}`, async () => {
    assert.equal(column(await profileText(table), price).role, 'rate');
  });
