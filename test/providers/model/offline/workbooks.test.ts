/** What the offline model says of workbooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SheetCell, workbookOf } from '../../../support/office-files.ts';
import { runAgent } from './agent-loop.ts';

const sums = (rows: [string, number, SheetCell, number][]): SheetCell[][] =>
  rows.map(([name, a, b, c], i) => [name, a, b, c, { f: `SUM(B${i + 2}:D${i + 2})`, v: a + (typeof b === 'number' ? b : 0) + c }]);
const bakeries: SheetCell[][] = [
  ['Bakery', 'May', 'June', 'July', 'Total'],
  ...sums([
    ['Harbour', 410, 420, 430],
    ['Station', 390, '500', 400],
    ['Market', 350, 345, 340],
    ['Castle', 200, 210, 190],
  ]),
  ['All shops', { f: 'SUM(B2:B5)', v: 1350 }, { f: 'SUM(C2:C5)', v: 975 }, { f: 'SUM(D2:D5)', v: 1360 }, { f: 'SUM(E2:E5)', v: 3685 }],
];

test('the answer to who leads and whether totals can be trusted rests on the cells of the rows, beside the totals of the sheet', async () => {
  const files = { 'bakeries.xlsx': workbookOf([{ name: 'Summer', rows: bakeries }]) };
  const { workspace, calls } = await runAgent('Which bakery has the most in bakeries.xlsx, and can I trust the totals?', { files });
  const report = workspace.text('report.md');
  assert.match(report, /bakeries\.xlsx: 4 rows and 1 total row, 5 columns \(sheet of a workbook\)/);
  assert.match(
    report,
    /Total is largest in Station \(1,290\) and smallest in Castle \(600\); by the values as written in the sheet Harbour \(1,260\) would be first/,
  );
  assert.match(report, /C3 is the text '500', not a number, so the sums skip it: E3 \(Total of Station: 790 instead of 1,290\)/);
  assert.match(report, /Total \(E6\) shows 3,685 instead of 4,185 \(difference 500\)/);
  assert.equal(calls.filter(({ name }) => name === 'profile_table').length, 1);
});

test('the sheet that the task names is the one that is read', async () => {
  const staff: SheetCell[][] = [
    ['Person', 'Hours'],
    ['Ada', 30],
    ['Bo', 20],
    ['Cy', 25],
  ];
  const files = {
    'shops.xlsx': workbookOf([
      { name: 'Summer', rows: bakeries },
      { name: 'Staff list', rows: staff },
    ]),
  };
  const { workspace } = await runAgent('Analyse shops.xlsx (sheet "Staff list")', { files });
  const report = workspace.text('report.md');
  assert.match(report, /shops\.xlsx: 3 rows, 2 columns/);
  assert.match(report, /The other sheets are not read: "Summer"/);
  const both = await runAgent('Analyse shops.xlsx', { files });
  assert.match(both.workspace.text('report.md'), /shops\.xlsx: Staff list: 3 rows, 2 columns/);
});
