import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { profileTable } from '../../../../src/providers/table/profile.ts';
import { type SheetCell, type SheetSpec, workbookOf } from '../../../support/office-files.ts';

const profileOf = (rows: SheetCell[][], more: Partial<SheetSpec> = {}) =>
  profileTable(async () => Readable.from([workbookOf([{ name: 'S', rows, ...more }])]), 'book.xlsx');

async function found(rows: SheetCell[][]): Promise<Record<string, string[]>> {
  const { remarks } = await profileOf(rows);
  const kinds: Record<string, string[]> = {};
  for (const { kind, text } of remarks) if (kind.startsWith('formula')) (kinds[kind] ??= []).push(text);
  return kinds;
}

const sum = (f: string, v?: number): SheetCell => (v === undefined ? { f } : { f, v });
const clinics: SheetCell[][] = [
  ['Klinik', 'Jan', 'Feb', 'Mrz', 'Summe'],
  ['Altona', 10, 20, 30, sum('SUM(B2:D2)', 60)],
  ['Bergedorf', 11, 21, 31, sum('SUM(B3:D3)', 63)],
  ['Eppendorf', 12, 22, 32, sum('SUM(B4:D4)', 66)],
  ['Harburg', 13, 23, 33, sum('SUM(B5:D5)', 69)],
  ['Gesamt', sum('SUM(B2:B5)', 46), sum('SUM(C2:C5)', 86), sum('SUM(D2:D5)', 126), sum('SUM(E2:E5)', 258)],
];
const changed = (row: number, column: number, cell: SheetCell) =>
  clinics.map((cells, i) => (i === row ? cells.map((each, j) => (j === column ? cell : each)) : cells));

test('a table whose formulas agree with their cells is told so, and its total row is no record', async () => {
  const profile = await profileOf(clinics);
  assert.equal(profile.rows, 4);
  const formulas = profile.remarks.filter(({ kind }) => kind.startsWith('formula'));
  assert.deepEqual(
    formulas.map(({ text }) => text),
    [
      'The 8 formulas that could be computed again agree with the stored values, and no sum leaves out a row.',
      'Summe is computed in all 4 rows by one formula (SUM(B2:D2) in the first).',
    ],
  );
  assert.match(profile.remarks.find(({ kind }) => kind === 'total')!.text, /^"Gesamt" \(row 5\) adds up other rows by formula/);
});

test('a sum that leaves out a column of its row is told with the value and what it leaves out', async () => {
  const rows = changed(2, 4, sum('SUM(B3:C3)', 32));
  rows[5] = [...rows[5]!.slice(0, 4), sum('SUM(E2:E5)', 227)];
  const kinds = await found(rows);
  assert.deepEqual(kinds.formula_left_out, ['Summe of Bergedorf: E3 = SUM(B3:C3) leaves out Mrz (D3: 31): it shows 32 instead of 63.']);
  assert.match(
    kinds.formula_verdict![0]!,
    /cannot be trusted as they stand: wrong is Summe of Bergedorf, and with it the total row "Gesamt"\./,
  );
});

test('a sum that ends before the last row of the table leaves that row out', async () => {
  const short = clinics.map((cells, i) =>
    i < 5 ? cells : ['Gesamt', sum('SUM(B2:B4)', 33), sum('SUM(C2:C4)', 63), sum('SUM(D2:D4)', 93), sum('SUM(E2:E4)', 189)],
  );
  const kinds = await found(short);
  assert.equal(kinds.formula_left_out!.length, 4);
  assert.equal(kinds.formula_left_out![0], 'Jan of Gesamt: B6 = SUM(B2:B4) leaves out Harburg (B5: 13): it shows 33 instead of 46.');
});

test('a total over all rows beside totals that leave out a row is no mistake', async () => {
  const rows = clinics.map((cells, i) =>
    i < 5 ? cells : ['Gesamt', sum('SUM(B2:B4)', 33), sum('SUM(C2:C4)', 63), sum('SUM(D2:D4)', 93), sum('SUM(E2:E5)', 258)],
  );
  const kinds = await found(rows);
  assert.equal(kinds.formula_left_out!.length, 3);
  assert.equal(kinds.formula_differs, undefined);
});

test('a typed total among formulas is named, with the value that the formula gives if it differs', async () => {
  const kinds = await found(changed(4, 4, 70));
  assert.match(
    kinds.formula_typed![0]!,
    /^Summe of Harburg: E5 is typed in as a number, without a formula: 70, but SUM\(B5:D5\).* gives 69\.$/,
  );
  assert.deepEqual((await found(changed(4, 4, 69))).formula_typed, [
    'Summe of Harburg: E5 is typed in as a number (69), without the formula of the other rows; SUM(B5:D5) gives the same.',
  ]);
});

test('a typed value in a total row is compared with the formula of the other columns', async () => {
  const kinds = await found(changed(5, 2, 88));
  assert.match(kinds.formula_typed![0]!, /^Feb of Gesamt: C6 is typed in.*: 88, but SUM\(C2:C5\).* gives 86\.$/);
});

test('a formula that reads the cell of another row is named, whether or not its value is that of its own row', async () => {
  const lessons = (minutes: number[], f: string): SheetCell[][] => [
    ['Lesson', 'Minutes', 'Rate', 'Amount'],
    ...minutes.map((own, i): SheetCell[] => [
      `L${i + 1}`,
      own,
      2,
      sum(i === 3 ? f : `B${i + 2}*C${i + 2}`, (i === 3 ? minutes[2]! : own) * 2),
    ]),
  ];
  assert.deepEqual((await found(lessons([30, 45, 60, 60, 90], 'B4*C5'))).formula_differs, [
    'Amount of L4: D5 = B4*C5 reads other cells than the formula of the other rows, B5*C5; both give 120.',
  ]);
  assert.deepEqual((await found(lessons([30, 45, 60, 75, 90], 'B4*C5'))).formula_differs, [
    'Amount of L4: D5 = B4*C5 (120) differs from the formula of the other rows, B5*C5, which would give 150.',
  ]);
});

test('a total whose area ends many rows before the last one is told with these rows, and one that begins late too', async () => {
  const rows: SheetCell[][] = [
    ['Lesson', 'Amount'],
    ...Array.from({ length: 20 }, (_, i): SheetCell[] => [`L${i + 1}`, i + 1]),
    ['Total', sum('SUM(B2:B16)', 120)],
  ];
  assert.deepEqual((await found(rows)).formula_left_out, [
    'Amount of Total: B22 = SUM(B2:B16) leaves out rows 17 to 21 of the sheet (B17:B21, L16 to L20; together 90): it shows 120 instead of 210.',
  ]);
  const late = rows.map((cells, i) => (i === 21 ? ['Total', sum('SUM(B4:B21)', 207)] : cells));
  assert.deepEqual((await found(late)).formula_left_out, [
    'Amount of Total: B22 = SUM(B4:B21) leaves out L1 (B2: 1) and L2 (B3: 2): it shows 207 instead of 210.',
  ]);
});

test('formulas that read another sheet are computed again, whole columns, conditions and look-ups too', async () => {
  const sales: SheetCell[][] = [
    ['Shop', 'Item', 'Qty'],
    ['A', 'tea', 2],
    ['B', 'tea', 3],
    ['A', 'nut', 4],
    ['B', 'nut', 5],
  ];
  const prices: SheetCell[][] = [
    ['Item', 'Price'],
    ['tea', 1.5],
    ['nut', 2],
    ['jam', { f: 'B2+B3' }],
  ];
  const summary: SheetCell[][] = [
    ['Line', 'Value'],
    ['A', sum("SUMIF('Sales 2025'!A:A,A2,'Sales 2025'!C:C)", 6)],
    ['B', sum("SUMIF('Sales 2025'!A:A,A3,'Sales 2025'!C:C)", 8)],
    ['Both', sum("SUM('Sales 2025'!C2:C5)", 13)],
    ['Tea', sum('VLOOKUP("tea",Prices!A:B,2,FALSE)*5', 7.5)],
    ['Jam', sum('Prices!B4', 3.5)],
    ['Rows', sum(`COUNTIF('Sales 2025'!B2:B5,"nut")`, 2)],
    ['Value of A', sum("SUMPRODUCT('Sales 2025'!C2:C3,Prices!B2:B3)", 9)],
  ];
  const profile = await profileTable(
    async () =>
      Readable.from([
        workbookOf([
          { name: 'Sales 2025', rows: sales },
          { name: 'Prices', rows: prices },
          { name: 'Summary', rows: summary },
        ]),
      ]),
    'book.xlsx',
  );
  const { remarks } = [profile, ...profile.nested].find(({ columns }) => columns[0]?.name === 'Line')!;
  assert.deepEqual(
    remarks.filter(({ kind }) => /^formula_(?:stale|unchecked|counted)$/.test(kind)).map(({ text }) => text),
    [
      "Value of Both: B4 = SUM('Sales 2025'!C2:C5) shows 13, but its cells give 14; the stored value is out of date.",
      '6 of the 7 formulas that could be computed again give the stored value.',
    ],
  );
});

test('a text number that a sum skips is told with the sums that skip it, and the figures count it', async () => {
  const rows = changed(3, 2, '22').map((cells, i) =>
    i === 3
      ? [...cells.slice(0, 4), sum('SUM(B4:D4)', 44)]
      : i === 5
        ? [...cells.slice(0, 2), sum('SUM(C2:C5)', 64), ...cells.slice(3)]
        : cells,
  );
  const profile = await profileOf(rows);
  const text = profile.remarks.find(({ kind }) => kind === 'formula_text')!.text;
  assert.match(text, /C4 is the text '22', not a number, so the sums skip it: E4 \(Summe of Eppendorf: 44 instead of 66\) and C6/);
  assert.equal(profile.columns.find(({ name }) => name === 'Summe')!.numbers!.sum, 258);
});

test('a stored value that is not what the cells give is out of date', async () => {
  const kinds = await found(changed(1, 4, sum('SUM(B2:D2)', 55)));
  assert.deepEqual(kinds.formula_stale, [
    'Summe of Altona: E2 = SUM(B2:D2) shows 55, but its cells give 60; the stored value is out of date.',
    'Summe of Gesamt: E6 = SUM(E2:E5) shows 258, but its cells give 253; the stored value is out of date.',
  ]);
});

test('formulas without a stored value are computed for the figures', async () => {
  const rows = clinics.map((cells) =>
    cells.map((cell) => (typeof cell === 'object' && cell !== null && 'f' in cell ? { f: cell.f } : cell)),
  );
  const profile = await profileOf(rows);
  assert.equal(profile.columns.find(({ name }) => name === 'Summe')!.numbers!.sum, 258);
  assert.equal(profile.rows, 4);
  assert.ok(!profile.remarks.some(({ text }) => text.includes('agree with the stored')));
  assert.ok(
    profile.remarks.some(({ text }) => text.startsWith('The file stores no value for 8 formulas; the figures use what the formulas give.')),
  );
});

test('errors in cells are named by their cell, and what reads them is not judged', async () => {
  const kinds = await found(changed(1, 1, { error: '#REF!' }));
  assert.match(kinds.formula_error![0]!, /^1 cell has an error instead of a value: B2 \(Jan of Altona: #REF!\)/);
  assert.equal(kinds.formula_stale, undefined);
  assert.match(kinds.formula_unchecked![0]!, /^3 formulas of the table were not computed again/);
});

test('an empty cell that a total of its row is without is named', async () => {
  const rows = changed(4, 3, null).map((cells, i) => (i === 4 ? [...cells.slice(0, 4), sum('SUM(B5:D5)', 36)] : cells));
  assert.deepEqual((await found(rows)).formula_empty, ['Mrz of Harburg (D5) is empty: Summe in E5 (36) is without it.']);
});

test('a total over rows and their subtotals counts rows twice', async () => {
  const rows: SheetCell[][] = [
    ['Depot', 'Paletten'],
    ['A', 1],
    ['B', 2],
    ['Zwischensumme', sum('SUM(B2:B3)', 3)],
    ['C', 4],
    ['D', 5],
    ['Zwischensumme', sum('SUM(B5:B6)', 9)],
    ['Gesamt', sum('SUM(B2:B7)', 24)],
  ];
  assert.match(
    (await found(rows)).formula_twice![0]!,
    /B8 = SUM\(B2:B7\) adds subtotals and their rows.* shows 24; without the subtotals it would be 12\.$/,
  );
  const right = rows.map((cells, i) =>
    i === 7
      ? ['Gesamt', sum('SUBTOTAL(9,B2:B7)', 12)]
      : i === 3 || i === 6
        ? [cells[0]!, sum(i === 3 ? 'SUBTOTAL(9,B2:B3)' : 'SUBTOTAL(9,B5:B6)', i === 3 ? 3 : 9)]
        : cells,
  );
  const kinds = await found(right);
  assert.deepEqual(Object.keys(kinds), ['formula_agrees']);
});

test('shared formulas are read relative to their own cell', async () => {
  const rows: SheetCell[][] = [
    ['part', 'qty', 'price', 'amount'],
    ['bolt', 2, 3, { shared: 0, text: 'B2*C2', ref: 'D2:D5', v: 6 }],
    ['nut', 4, 5, { shared: 0, v: 20 }],
    ['rod', 6, 7, { shared: 0, v: 43 }],
    ['cap', 8, 9, { shared: 0, v: 72 }],
  ];
  assert.deepEqual((await found(rows)).formula_stale, [
    'amount of rod: D4 = B4*C4 shows 43, but its cells give 42; the stored value is out of date.',
  ]);
});

test('partial sums below a table, running balances and functions that are not computed are no mistakes', async () => {
  const rows: SheetCell[][] = [
    ['month', 'in', 'out', 'balance', 'rate'],
    ['Jan', 10, 4, sum('B2-C2', 6), { f: 'VLOOKUP(A2,Rates!A:B,2,0)', v: 1 }],
    ['Feb', 12, 5, sum('D2+B3-C3', 13), { f: 'IF(B3>1,2,3)', v: 2 }],
    ['Mar', 14, 6, sum('D3+B4-C4', 21), { f: 'Rates!B4', v: 3 }],
    ['Apr', 16, 7, sum('D4+B5-C5', 30), { f: 'Rates!B5', v: 4 }],
    ['May', 18, 8, sum('D5+B6-C6', 40), { f: 'Rates!B6', v: 5 }],
    ['Jun', 20, 9, sum('D6+B7-C7', 51), { f: 'Rates!B7', v: 6 }],
    ['First quarter', sum('SUM(B2:B4)', 36), sum('SUM(C2:C4)', 15)],
    ['Second quarter', sum('SUM(B5:B7)', 54), sum('SUM(C5:C7)', 24)],
    ['Total', sum('B8+B9', 90), sum('C8+C9', 39)],
  ];
  const kinds = await found(rows);
  assert.deepEqual(Object.keys(kinds).toSorted(), ['formula_agrees', 'formula_unchecked']);
  assert.match(kinds.formula_agrees![0]!, /agree with the stored values/);
});
