import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { Cell } from '../../../../src/providers/table/cell.ts';
import { profileTable } from '../../../../src/providers/table/profile.ts';
import { openTables } from '../../../../src/providers/table/table-source.ts';
import { numberForm, shownNumber } from '../../../../src/providers/table/workbook/number-forms.ts';
import { type SheetSpec, type Writer, workbookOf, workbookParts, zipOf } from '../../../support/office-files.ts';

const opener = (bytes: Buffer) => async () => Readable.from([bytes]);

async function tablesOf(bytes: Buffer, sheet?: string) {
  const tables = await openTables(opener(bytes), 'book.xlsx', undefined, sheet);
  return Promise.all(
    tables.map(async ({ path, source }) => {
      const rows: Cell[][] = [];
      await source.eachRow((cells) => rows.push([...cells]));
      return { path, names: source.names, rows, notes: [...source.notes] };
    }),
  );
}

const harvest: SheetSpec = {
  name: 'Ernte & Co',
  rows: [
    ['Hof', 'Sorte', 'Menge', 'geprüft'],
    ['Ahorn', 'Weizen <früh>', 12.5, true],
    ['Birke', 'Gerste', 7, false],
    ['Eibe', 'Hafer', null, true],
    ['Linde', 'Weizen <früh>', { f: 'C2*2', v: 25 }, { f: 'C5>1', v: 'ja' }],
  ],
};

for (const writer of ['excel', 'libreoffice', 'google', 'inline', 'prefixed'] satisfies Writer[])
  test(`a workbook in the form of ${writer} is read cell by cell`, async () => {
    const [table] = await tablesOf(workbookOf([harvest], { writer }));
    assert.deepEqual(table!.names, ['Hof', 'Sorte', 'Menge', 'geprüft']);
    assert.deepEqual(table!.rows, [
      ['Ahorn', 'Weizen <früh>', 12.5, true],
      ['Birke', 'Gerste', 7, false],
      ['Eibe', 'Hafer', null, true],
      ['Linde', 'Weizen <früh>', 25, 'ja'],
    ]);
  });

test('dates, times and percentages are read by the format of their cells, in both date systems', async () => {
  const formats = ['yyyy\\-mm\\-dd', 'dd/mm/yyyy hh:mm', '0.0%', '#,##0.00 "Tage"', '[h]:mm', '[$-407]d. mmmm yyyy;@', '"$"#,##0'];
  const rows = [
    ['day', 'at', 'share', 'days', 'span', 'long', 'price'],
    [
      { n: 45658, s: 1 },
      { n: 45658.75, s: 2 },
      { n: 0.125, s: 3 },
      { n: 3.5, s: 4 },
      { n: 1.5, s: 5 },
      { n: 45658, s: 6 },
      { n: 9, s: 7 },
    ],
  ];
  const [table] = await tablesOf(workbookOf([{ name: 'T', rows }], { formats }));
  assert.deepEqual(table!.rows, [['2025-01-01', '2025-01-01 18:00:00', '12.5%', 3.5, '36:00', '2025-01-01', 9]]);
  const old = await tablesOf(
    workbookOf(
      [
        {
          name: 'T',
          rows: [
            ['day', 'x'],
            [{ n: 44196, s: 1 }, 1],
          ],
        },
      ],
      { formats, is1904: true },
    ),
  );
  assert.deepEqual(old[0]!.rows, [['2025-01-01', 1]]);
  assert.equal(shownNumber(59, 'date', false), '1900-02-28');
  assert.equal(shownNumber(61, 'date', false), '1900-03-01');
  assert.equal(numberForm(14, undefined), 'date');
  assert.equal(numberForm(200, '0.00E+00'), 'plain');
  assert.equal(numberForm(200, '[Red]-0 "min"'), 'plain');
});

test('titles above the header and notes below the table are no rows, and are quoted', async () => {
  const rows = [
    ['Besucher 2025'],
    [],
    ['Haus', 'Monat', 'Besucher'],
    ['Nord', 'Januar', 120],
    ['Süd', 'Januar', 90],
    ['West', 'Januar', 75],
    [],
    ['Zahlen vorläufig'],
  ];
  const [table] = await tablesOf(workbookOf([{ name: 'Besuch', rows }]));
  assert.deepEqual(table!.names, ['Haus', 'Monat', 'Besucher']);
  assert.equal(table!.rows.length, 3);
  assert.ok(table!.notes.some((note) => note.includes('"Besucher 2025"')));
  assert.ok(table!.notes.some((note) => note.includes('"Zahlen vorläufig"')));
  assert.ok(table!.notes.includes('Read from the sheet "Besuch"; row 1 here is row 4 of the sheet.'));
});

test('each sheet with cells is a table, hidden and empty sheets are named, and a sheet can be chosen', async () => {
  const list = (name: string, count: number, isHidden = false): SheetSpec => ({
    name,
    isHidden,
    rows: [['item', 'pieces'], ...Array.from({ length: count }, (_, i) => [`${name} ${i}`, i])],
  });
  const bytes = workbookOf([list('Small', 3), { name: 'Blank', rows: [] }, list('Large', 9), list('Secret', 20, true)]);
  const tables = await tablesOf(bytes);
  assert.deepEqual(
    tables.map(({ path, rows }) => [path, rows.length]),
    [
      ['', 9],
      ['Small', 3],
      ['Secret', 20],
    ],
  );
  assert.ok(tables[0]!.notes.includes('This sheet is hidden: "Secret".'));
  assert.ok(tables[0]!.notes.includes('This sheet has no table: "Blank".'));
  const [chosen, ...others] = await tablesOf(bytes, 'small');
  assert.equal(chosen!.rows.length, 3);
  assert.deepEqual(others, []);
  await assert.rejects(tablesOf(bytes, 'Missing'), /no sheet "Missing"\. Its sheets are Small, Blank, Large and Secret/);
});

test('tables below one another in a sheet are tables of their own', async () => {
  const rows = [
    ['team', 'points'],
    ['A', 1],
    ['B', 2],
    ['C', 3],
    [],
    ['referee', 'matches', 'cards'],
    ['D', 4, 1],
    ['E', 5, 2],
    ['F', 6, 3],
  ];
  const tables = await tablesOf(workbookOf([{ name: 'Liga', rows }]));
  assert.deepEqual(
    tables.map(({ names, rows: own }) => [names, own.length]),
    [
      [['referee', 'matches', 'cards'], 3],
      [['team', 'points'], 3],
    ],
  );
});

test('a text that is merged over several rows stands for each of them', async () => {
  const rows = [
    ['region', 'shop', 'sales'],
    ['North', 'a', 1],
    [null, 'b', 2],
    ['South', 'c', 3],
    [null, 'd', 4],
  ];
  const [table] = await tablesOf(workbookOf([{ name: 'S', rows, merged: ['A2:A3', 'A4:A5'] }]));
  assert.deepEqual(
    table!.rows.map(([region]) => region),
    ['North', 'North', 'South', 'South'],
  );
});

test('hidden rows and columns are named', async () => {
  const parts = workbookParts([
    {
      name: 'S',
      rows: [
        ['a', 'b'],
        [1, 'x'],
        [2, 'y'],
        [3, 'z'],
      ],
      extra: '<cols><col min="2" max="2" hidden="1"/></cols>',
    },
  ]);
  parts['xl/worksheets/sheet1.xml'] = parts['xl/worksheets/sheet1.xml']!.replace('<row r="3"', '<row hidden="1" r="3"');
  const [table] = await tablesOf(zipOf(parts));
  assert.ok(table!.notes.includes('One row of the sheet is hidden (3); the figures count it.'));
  assert.ok(table!.notes.includes('One column of the table is hidden in the sheet; the figures count it.'));
});

test('an empty workbook is an empty table', async () => {
  const profile = await profileTable(opener(workbookOf([{ name: 'S', rows: [] }])), 'book.xlsx');
  assert.equal(profile.rows, 0);
  assert.ok(profile.warnings.includes('The file is empty.'));
});
