/** Two sheets of one workbook as two tables, prices whose name has the unit of a quantity, and the columns that a task names. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { joinSheets, joinTables } from '../../../src/providers/table/join.ts';
import { type SheetCell, workbookOf } from '../../support/office-files.ts';
import { runAgent } from '../model/offline/agent-loop.ts';
import { opening } from './tables.ts';

const receipts: SheetCell[][] = [
  ['receipt', 'code', 'net_eur', 'gross_eur'],
  ...Array.from({ length: 12 }, (_, i): SheetCell[] => [`R${i}`, ['A1', 'B2', 'C3', 'X9'][i % 4]!, 100 + i, 120 + i]),
];
const budget: SheetCell[][] = [
  ['code', 'heading', 'budget_eur'],
  ['A1', 'Van', 300],
  ['B2', 'Tools', 500],
  ['C3', 'Food', 400],
  ['D4', 'Print', 90],
];
const workbook = workbookOf([
  { name: 'Receipts', rows: receipts },
  { name: 'Plan', rows: budget },
]);

test('two sheets of a workbook are joined, and the sheet with the budget is the plan whatever the name of the file', async () => {
  const open = async () => Readable.from([workbook]);
  const { key, remarks } = await joinSheets({ name: 'trip_budget.xlsx', open }, undefined, { measures: ['gross_eur'] });
  assert.deepEqual(key, { left: 'code', right: 'code' });
  const texts = remarks.map(({ text }) => text);
  for (const expected of [
    'Only in sheet Receipts, not in sheet Plan: 1 key (X9 (rows 4, 8 and 12, gross_eur 381)).',
    'Only in sheet Plan, not in sheet Receipts: 1 key (D4 (Print, budget_eur 90)).',
    'gross_eur is above budget_eur for 1 key: A1 (Van) by 72 (24 %).',
  ])
    assert.ok(texts.includes(expected), texts.join('\n'));
});

test('a question on two sheets of one workbook is answered with both, on the column that it names', async () => {
  const prompt = 'Compare sheet Receipts (gross_eur) with sheet Plan in trip.xlsx: which codes are over budget and what is left?';
  const { workspace } = await runAgent(prompt, { files: { 'trip.xlsx': workbook } });
  const report = workspace.text('report.md');
  assert.match(report, /- gross_eur is above budget_eur for 1 key: A1 \(Van\) by 72/);
  assert.match(report, /By code, X9 has the largest gross_eur: 381/);
});

test('a price in a unit is multiplied by the quantity in this unit, and the rows without a value are named', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `0${100 + i},${['P', 'Q', 'R', 'Z'][i % 4]},${3 + (i % 5)},${i === 4 ? '' : 50 + i}`);
  const side = (name: string, text: string) => ({ name, open: opening(Buffer.from(text)) });
  const { remarks } = await joinTables(
    side('lots.csv', `lot_no,grade,chests,kg_net\n${rows.join('\n')}\n`),
    side('prices.csv', 'grade,name,usd_per_kg\nP,Pekoe,2\nQ,Queen,3\nR,Rest,\nS,Spare,4\n'),
  );
  const textsOf = (kind: string) => remarks.filter((each) => each.kind === kind).map(({ text }) => text);
  assert.match(
    textsOf('join_product')[0]!,
    /^kg_net × usd_per_kg \(lots\.csv with prices\.csv\) adds up to 1,357 over 9 rows: Q \(Queen\) 885 \(65\.2 %\) and P \(Pekoe\) 472/,
  );
  assert.deepEqual(textsOf('join_unpriced'), [
    'Not in kg_net × usd_per_kg, because they have no usd_per_kg: R (row 3 (0102), row 7 (0106), row 11 (0110), row 15 (0114) and row 19 (0118)) and Z (row 4 (0103), row 8 (0107), row 12 (0111), row 16 (0115) and row 20 (0119)) (kg_net 605 in 10 rows).',
    'Not in kg_net × usd_per_kg, because kg_net is missing: row 5 (0104) of P (Pekoe).',
    'In all, 11 rows of lots.csv have no kg_net × usd_per_kg.',
  ]);
});

test('the main figure of a joined table is money, not a word that has "ist" within it', async () => {
  const rides = Array.from(
    { length: 12 },
    (_, i) => `T${i},2024-06-${String(i + 1).padStart(2, '0')},${['D1', 'D2'][i % 2]},${5 + i},${10 + i}`,
  );
  const { remarks } = await joinTables(
    { name: 'rides.csv', open: opening(Buffer.from(`ride,date,driver,distance_km,price_eur\n${rides.join('\n')}\n`)) },
    { name: 'drivers.csv', open: opening(Buffer.from('driver,depot\nD1,North\nD2,South\nD3,South\n')) },
  );
  assert.match(remarks.find(({ kind }) => kind === 'join_groups')!.text, /^price_eur by depot/);
});
