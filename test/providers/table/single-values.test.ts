/** Single values that decide what is told of a whole column: zeros, values far from their group, values that turn a change around. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { profileTable } from '../../../src/providers/table/profile.ts';

const textsOf = async (text: string, kind: string) =>
  (await profileTable(async () => Readable.from([Buffer.from(text)]), 'table.csv')).remarks
    .filter((each) => each.kind === kind)
    .map((each) => each.text);
const dayOf = (i: number) => new Date(Date.UTC(2025, 0, 1 + i)).toISOString().slice(0, 10);

test('a lone zero is told with the next lowest value and the measure that is usual beside it', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `${dayOf(i)},${i === 7 ? 0 : 30 + i},${(100 + 3 * i).toFixed(2)}`);
  const [zero] = await textsOf(`date,riders,takings_eur\n${rows.join('\n')}\n`, 'zeros');
  assert.equal(zero, 'riders is 0 in 1 row: row 8 (2025-01-08); the next lowest is 30, and takings_eur 121 stands beside it as elsewhere.');
});

test('few zeros are told with the value that their rows have in common, and rows by the key that differs in each', async () => {
  const rows = Array.from(
    { length: 100 },
    (_, i) =>
      `S${i},${i % 3 === 0 ? 'north' : i % 3 === 1 ? 'east' : 'south'},P-${i % 90},${[1, 31, 61].includes(i) ? 0 : 5 + (i % 9)},${40 + i}`,
  );
  const [zero] = await textsOf(`charge_id,site,bay,kwh,minutes\n${rows.join('\n')}\n`, 'zeros');
  assert.equal(zero, 'kwh is 0 in 3 rows: row 2 (S1), row 32 (S31) and row 62 (S61); the next lowest is 5; all of them have site east.');
});

test('a value far below a group with a wide range is an outlier within its group', async () => {
  const sizes = { East: 3000, West: 900, South: 200 };
  const rows = Object.entries(sizes).flatMap(([branch, size]) =>
    Array.from(
      { length: 12 },
      (_, i) => `2024-${String(i + 1).padStart(2, '0')},${branch},${branch === 'West' && i === 4 ? 95 : size + (i * size) / 9}`,
    ),
  );
  const found = await textsOf(`month,branch,guests\n${rows.map((row) => row.replace(/\.\d+$/, '')).join('\n')}\n`, 'outlier');
  assert.ok(
    found.some((text) => /^Outlier within branch West: .* has guests 95; its other rows have 900 to 2,000\.$/.test(text)),
    found.join('\n'),
  );
});

test('a date that comes three times is told once, with the columns in which its rows differ', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => `${dayOf(i)},${10 + i}`);
  rows.splice(5, 0, `${dayOf(5)},99`, `${dayOf(5)},98`);
  const [repeated] = await textsOf(`date,calls\n${rows.join('\n')}\n`, 'repeated_times');
  assert.equal(repeated, 'date comes more than once for 2025-01-06 (rows 6, 7 and 8: calls 99, 98 and 15).');
});

test('a repeated key is told with the values in which its rows differ', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `D${100 + (i === 13 ? 4 : i)},${i % 2 === 0 ? 'A' : 'B'},${40 + i}`);
  const [keys] = await textsOf(`donor_no,type,volume\n${rows.join('\n')}\n`, 'duplicate_keys');
  assert.match(keys!, /D104 occurs 2 times \(rows 5 and 14: type A and B, volume 44 and 53\)/);
});

test('a change of a group that one value turns around is told without that value', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const month = i < 30 ? '01' : '02';
    const lift = i % 2 === 0 ? 'North' : 'South';
    const takings = i === 44 ? 90_000 : 1000 - i * 5;
    return `2025-${month}-${String(i % 30 < 28 ? (i % 30) + 1 : 28).padStart(2, '0')},${lift},${takings}`;
  });
  const [growth] = await textsOf(`date,lift,takings_eur\n${rows.join('\n')}\n`, 'growth');
  assert.match(growth!, /But without row 45 .*\(90,000\) North falls: /);
  assert.doesNotMatch(growth!, /rises most/);
});

test('a group without a value in the first period has no value there, though it has a row', async () => {
  const rows = Array.from({ length: 36 }, (_, i) => {
    const month = `0${1 + Math.floor(i / 12)}`;
    const lift = ['North', 'South', 'West'][i % 3]!;
    return `2025-${month}-${String((i % 12) + 1).padStart(2, '0')},${lift},${lift === 'West' && month === '01' ? '' : 100 + i}`;
  });
  const [growth] = await textsOf(`date,lift,cost_eur\n${rows.join('\n')}\n`, 'growth');
  assert.match(growth!, /West no value in 2025-01, 474 in 2025-02/);
});

test('a value that a product explains is no slip of a decimal, and the sum as the product gives it is told', async () => {
  const rows = Array.from({ length: 24 }, (_, i) => {
    const kwh = 40 + i;
    const tariff = i % 2 === 0 ? 0.5 : 0.25;
    return `F${10 + i},${kwh},${tariff},${i === 9 ? 120 : kwh * tariff}`;
  });
  const text = `firing,kwh,tariff,cost\n${rows.join('\n')}\n`;
  assert.deepEqual(await textsOf(text, 'factor_error'), []);
  const [broken] = await textsOf(text, 'relation_broken');
  assert.match(
    broken!,
    /^cost = kwh × tariff in 23 of 24 rows, .* 49 × 0\.25 = 12\.25, written 120\. With the product there, cost adds up to 462 /,
  );
});

test('a price below its cost is named, and money is not compared with pieces', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `A${i},${10 + i * 2},${i === 6 ? 30 : 6 + i},${12 + 2 * i}`);
  const bounds = await textsOf(`item,list_price,cost_price,pots_in\n${rows.join('\n')}\n`, 'bounds');
  assert.deepEqual(bounds, [
    'cost_price is above list_price only in 1 row: 30 beside 22 in row 7 (A6); it is not above it in the other 19.',
  ]);
});

test('a group that is without a row for much longer than at any other time is told', async () => {
  const days = Array.from({ length: 60 }, (_, i) => i).filter((day) => day % 4 !== 1);
  const rows = days.flatMap((day, i) => [
    `${dayOf(day)},0${1 + (i % 2)},Quick,${30 + (day % 5)}`,
    ...(day > 18 && day < 44 ? [] : [`${dayOf(day)},03,Wool,${40 + (day % 3)}`]),
  ]);
  const text = `day,machine,programme,minutes\n${rows.join('\n')}\n`;
  const gaps = await textsOf(text, 'group_gaps');
  assert.match(
    gaps.join('\n'),
    /^Long without a row: machine 03 from 2025-01-19 \(row \d+\) to 2025-02-14 \(row \d+\), 26 days; otherwise at most 2 days\.$/m,
  );
});
