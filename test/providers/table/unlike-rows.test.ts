/** Groups and cells that differ from the others: days without rows, a date format of one group, numbers written as text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

const textsOf = async (kind: string, text: string, name?: string) =>
  (await profileText(text, name)).remarks.filter((remark) => remark.kind === kind).map((remark) => remark.text);

const days = Array.from({ length: 12 }, (_, i) => i + 1);
const date = (day: number, iso: boolean) => (iso ? `2024-09-${String(day).padStart(2, '0')}` : `${String(day).padStart(2, '0')}.09.2024`);
const rowsOf = (lacks: (shop: string, day: number) => boolean) =>
  `Datum;Laden;Stück\n${days
    .flatMap((day) =>
      ['Ost', 'West', 'Mitte']
        .filter((shop) => !lacks(shop, day))
        .map((shop) => `${date(day, shop === 'West' && day > 8)};${shop};${day + 5}`),
    )
    .join('\n')}\n`;

test('the days on which one group has no row and all others have some are named', async () => {
  assert.deepEqual(
    await textsOf(
      'group_gaps',
      rowsOf((shop, day) => shop === 'Ost' && day > 9 && day < 12),
    ),
    [
      'Laden Ost has no rows on 2024-09-10 and 2024-09-11, on which all others have some: 10 days against 12, so its sums are not comparable with theirs as they are.',
    ],
  );
  assert.deepEqual(
    await textsOf(
      'group_gaps',
      rowsOf((shop, day) => (shop === 'Ost' && day === 3) || (shop === 'West' && day === 5)),
    ),
    [],
  );
});

test('a date format that only one group has is told with the group and the first row', async () => {
  assert.deepEqual(
    await textsOf(
      'mixed_dates',
      rowsOf(() => false),
    ),
    [
      'Datum mixes 2 date formats: DD.MM.YYYY ×32, YYYY-MM-DD ×4. All 4 with YYYY-MM-DD are of Laden West, the first in row 26 (2024-09-09).',
    ],
  );
});

test('few numbers that are written as text in JSON, or with a unit in a CSV, are named', async () => {
  const records = days.map((day) => ({ id: `k${day}`, price: day === 4 ? '7,50' : day + 0.25 }));
  assert.deepEqual(await textsOf('unit_cells', JSON.stringify(records), 'prices.json'), [
    "price is written as text in 1 row, unlike the others: '7,50' in row 4 (k4); it is counted as 7.50.",
  ]);
  const csv = days.map((day) => `k${day};${day === 6 ? '1.480,00 €' : `${day}00,00`}`).join('\n');
  assert.deepEqual(await textsOf('unit_cells', `id;betrag\n${csv}\n`), [
    "betrag is written with € in 1 row, unlike the others: '1.480,00 €' in row 6 (k6); it is counted as 1,480.",
  ]);
});

test('a column that goes on varying while another one stands still is told beside it', async () => {
  const hours = Array.from({ length: 48 }, (_, i) => {
    const level = i >= 20 && i < 32 ? 198.4 : 190 + ((i * 7) % 23) / 2;
    return `2024-02-0${1 + Math.floor(i / 24)} ${String(i % 24).padStart(2, '0')}:00;${level.toFixed(1)};${(60 + ((i * 13) % 37)).toFixed(1)}`;
  });
  const [text] = await textsOf('stuck', `time;level_cm;flow\n${hours.join('\n')}\n`);
  assert.match(text!, /^level_cm stands still at 198\.40 for 12 rows .* In these rows flow goes on varying \(\d+ to \d+\)\.$/);
});
