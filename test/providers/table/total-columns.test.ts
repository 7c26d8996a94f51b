/** Columns that are the sum of others, and rows that are the sum of others. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { profileTable } from '../../../src/providers/table/profile.ts';

const profileOf = (text: string) => profileTable(async () => Readable.from([Buffer.from(text)]), 'table.csv');
const textsOf = async (text: string, kind: string) =>
  (await profileOf(text)).remarks.filter((each) => each.kind === kind).map((each) => each.text);

const harvest = [
  'block,riesling_kg,merlot_kg,pinot_kg,all_kg,brix',
  'A1,100,200,50,350,19.1',
  'A2,120,180,40,340,18.4',
  'A3,90,210,60,390,20.2',
  'Slope total,310,590,150,1050,',
  'B1,300,400,70,770,21.3',
  'B2,310,420,80,810,20.8',
  'Plain total,610,820,150,1580,',
  'Total,920,1410,300,2660,',
].join('\n');

test('the columns that make up a total are ranked with their shares', async () => {
  const [parts] = await textsOf(harvest, 'parts');
  assert.match(
    parts!,
    /^Of the columns that make up all_kg, merlot_kg is the largest and pinot_kg the smallest: merlot_kg 1,410 \(53\.6 %\), riesling_kg 920 \(35 %\), pinot_kg 300 \(11\.4 %\); together 2,630\.$/,
  );
});

test('a total column with one wrong row is told with its sum and mean as the parts give them', async () => {
  const [broken] = await textsOf(harvest, 'relation_broken');
  assert.match(broken!, /in 4 of 5 rows, but not in row 3 \(A3\): the sum = 360, written 390\./);
  assert.match(broken!, /With the sum there, all_kg adds up to 2,630 \(mean 526\) instead of 2,660\.$/);
});

test('the sum across the columns is checked in the total rows too', async () => {
  const across = (await textsOf(harvest, 'relation_broken'))[1]!;
  assert.equal(
    across,
    'In the total rows, all_kg is the sum of its columns in 2 of 3, but not in row 8 ("Total"): 920 + 1,410 + 300 = 2,630, written 2,660 (difference 30).',
  );
});

test('subtotals are ranked, and columns that no total row fills are named', async () => {
  const [rank] = await textsOf(harvest, 'subtotal_rank');
  assert.match(
    rank!,
    /"Plain total" has the largest all_kg and "Slope total" the smallest, as written: "Plain total" 1,580 \(60\.1 %\), "Slope total" 1,050 \(39\.9 %\)\. Their all_kg together is 2,630, 30 less than row 8 \("Total"\) with 2,660; the records add up to 2,660\.$/,
  );
  assert.deepEqual(await textsOf(harvest, 'total_empty'), ['brix is empty in the 3 total rows.']);
  assert.equal((await profileOf(harvest)).total_rows, 3);
});

test('subtotals in a later column are totals of the rows above them, also one with a wrong figure', async () => {
  const yards = [
    'north,mill,5,2',
    'north,quay,7,1',
    'north,Subtotal north,12,3',
    'south,dock,4,4',
    'south,pier,6,5',
    'south,Subtotal south,10,9',
  ];
  const later = [
    'north,mill,6,3',
    'north,quay,8,2',
    'north,Subtotal north,14,5',
    'south,dock,5,5',
    'south,pier,7,6',
    'south,Subtotal south,13,11',
  ];
  const text = ['area,yard,month,paper,glass', ...yards.map(inMonth('05')), ...later.map(inMonth('06')), 'all,Grand total,,49,28'].join(
    '\n',
  );
  const profile = await profileOf(text);
  assert.deepEqual([profile.rows, profile.total_rows], [8, 5]);
  const [wrong] = await textsOf(text, 'total_wrong');
  assert.match(wrong!, /^Row 12 \("Subtotal south"\) .* paper is written as 13 but the rows add up to 12/);
  const [rank] = await textsOf(text, 'subtotal_rank');
  assert.equal(
    rank,
    'Of the 4 subtotals, "Subtotal north" has the largest paper and "Subtotal south" the smallest, as written: "Subtotal north" 26 (53.1 %, 2 rows), "Subtotal south" 23 (46.9 %, 2 rows).',
  );
});

test('what subtotals add up to is told beside a grand total that differs from them', async () => {
  const text = 'area,yard,paper\nn,mill,5\nn,quay,7\nSubtotal n,,12\ns,dock,4\ns,pier,6\nSubtotal s,,10\nGrand total,,20\n';
  const [rank] = await textsOf(text, 'subtotal_rank');
  assert.match(rank!, /Their paper together is 22, 2 more than row 7 \("Grand total"\) with 20; the records add up to 22\.$/);
});

function inMonth(month: string): (row: string) => string {
  return (row) => {
    const [area, yard, ...figures] = row.split(',');
    return [area, yard, `2025-${month}`, ...figures].join(',');
  };
}

test('a table without total columns and total rows has none of these findings', async () => {
  const plain = 'tree,height,age\nOak,12,80\nAsh,9,40\nElm,11,60\nFir,20,35\n';
  for (const kind of ['parts', 'subtotal_rank', 'total_empty']) assert.deepEqual(await textsOf(plain, kind), []);
  assert.equal((await profileOf(plain)).total_rows, undefined);
});

const pastries = [
  'semaine;atelier;pièces;recette',
  ...['S1', 'S2', 'S3', 'S4'].flatMap((week, i) => [
    `${week};Nord;${100 + i};${(250.5 + i).toFixed(2)}`,
    `${week};Sud;${80 + i};${(190.25 + i).toFixed(2)}`,
    `${week};Total semaine;${week === 'S3' ? 190 : 180 + 2 * i};${(440.75 + 2 * i).toFixed(2)}`,
  ]),
  'toutes;Total général;732;=SOMME(D2:D13)/2',
].join('\n');

test('totals of groups whose label stands in another column are no records, and the wrong one of them is told', async () => {
  const profile = await profileOf(pastries);
  assert.equal(profile.rows, 8);
  assert.equal(profile.total_rows, 5);
  const texts = profile.remarks.filter(({ kind }) => kind === 'total').map(({ text }) => text);
  assert.equal(
    texts[0],
    '3 rows "Total semaine" (rows 3, 6 and 12) are totals, not records; they are left out of all sums and counts, and agree with the sums of their rows.',
  );
  assert.match(
    texts[1]!,
    /^Row 13 \("Total général"\) is a total.*agrees.*pièces 732\); recette is the formula =SOMME\(D2:D13\)\/2, not a value\.$/,
  );
  const [wrong] = profile.remarks.filter(({ kind }) => kind === 'total_wrong');
  assert.match(
    wrong!.text,
    /^Row 9 \("Total semaine" of S3\).*pièces is written as 190 but the rows add up to 184 \(difference 6, too high\)/,
  );
  const [rank] = profile.remarks.filter(({ kind }) => kind === 'subtotal_rank');
  assert.match(rank!.text, /^Of the 4 subtotals, "S3" has the largest pièces and "S1" the smallest, as written/);
});
