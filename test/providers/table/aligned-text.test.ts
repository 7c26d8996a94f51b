/** Tables with columns aligned by blanks: they have the same profile as the same table in CSV, and other texts are not taken for tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alignedLayout } from '../../../src/providers/table/aligned-text.ts';
import { looksLikeTable } from '../../../src/providers/table/looks-like-table.ts';
import { column, numbersOf, profileText } from './tables.ts';

/** Rows as lines: each column as wide as its longest cell, numbers to the right, `apart` blanks between columns. */
function aligned(rows: readonly (readonly string[])[], right: readonly number[], apart = 2): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const padded = (cell: string, at: number) => (right.includes(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!));
  return rows.map((row) => row.map(padded).join(' '.repeat(apart)).trimEnd());
}

const fleet = [
  ['Plate', 'Driver', 'Depot', 'Km', 'Fuel cost'],
  ['0071', 'Ana Lima', 'North', '12,400', '1,310.50'],
  ['0072', 'Bo', 'South', '980', '99.90'],
  ['0073', 'Cy van Dam', 'North', '-', '0.00'],
  ['0074', 'Di', 'East', '7,015', '802.10'],
];

test('a table aligned by blanks has the figures, names and types of the same table in CSV', async () => {
  const lines = aligned(fleet, [3, 4]);
  const text = ['Fleet costs, May', '', lines[0], '-'.repeat(40), ...lines.slice(1), '', 'Figures by Dana. One van was sold.'].join('\n');
  assert.ok(looksLikeTable(text));
  const profile = await profileText(text, 'fleet.txt');
  const asCsv = await profileText(fleet.map((row) => row.join(';')).join('\n'));
  assert.equal(profile.format, 'aligned');
  assert.deepEqual([profile.rows, profile.columns, profile.groups], [asCsv.rows, asCsv.columns, asCsv.groups]);
  assert.deepEqual([numbersOf(profile, 'Km').sum, numbersOf(profile, 'Fuel cost').sum], [20_395, 2_212.5]);
  assert.equal(column(profile, 'Plate').type, 'text');
  assert.equal(
    column(profile, 'Driver').frequent?.some(({ value }) => value === 'Cy van Dam'),
    true,
  );
});

test('lines that do not fit the columns of an aligned table are left out and named by line number', async () => {
  const lines = aligned(fleet, [3, 4]);
  lines.splice(3, 0, 'van returned late, see the note of the workshop');
  const profile = await profileText(['Fleet costs', '', ...lines].join('\r\n'), 'fleet.txt');
  assert.equal(profile.rows, 4);
  assert.match(profile.warnings.join('\n'), /2 lines do not fit .*"Fleet costs" \(line 1\), "van returned late, .*" \(line 6\)/);
});

test('columns that a rule in parts marks may be one blank apart', async () => {
  const rows = [
    ['id', 'name', 'qty'],
    ['--', '-----', '---'],
    ['01', 'a bcd', '120'],
    ['02', 'wxyz', '7'],
    ['03', 'k', '15'],
  ];
  const profile = await profileText(aligned(rows, [2], 1).join('\n'), 'qty.txt');
  assert.deepEqual([profile.rows, profile.columns.map(({ name }) => name)], [3, ['id', 'name', 'qty']]);
  assert.equal(numbersOf(profile, 'qty').sum, 142);
});

test('a name of two words above short cells is one column, also with one long cell', async () => {
  const rows = [['Item name', 'Pieces'], ...['Aaaaaa', 'Aaa', 'Bcd', 'Efg'].map((name, at) => [name, String(at + 1)])];
  const profile = await profileText(aligned(rows, [1]).join('\n'), 'items.txt');
  assert.deepEqual([profile.rows, profile.columns.map(({ name }) => name)], [4, ['Item name', 'Pieces']]);
});

test('words of one cell or one name stay together, also where all rows have a blank at the same position', async () => {
  const rows = [
    ['Item name', 'Unit cost'],
    ['Wine 1', '4.10'],
    ['Beer 2', '3.00'],
    ['Milk 3', '2.50'],
  ];
  const profile = await profileText(aligned(rows, [1], 3).join('\n'), 'boxes.txt');
  assert.deepEqual(profile.columns.map(({ name }) => name).slice(0, 2), ['Item name', 'Unit cost']);
  assert.equal(column(profile, 'Item name').distinct, 3);
});

test('any aligned table has the profile of the same table in CSV', async () => {
  const row = fc.record({
    item: fc.stringMatching(/^[A-Z][a-z]{2,11}( [A-Za-z0-9]{1,5})?$/),
    bay: fc.constantFrom('A', 'B', 'C', ''),
    pieces: fc.integer({ min: -500, max: 99_999 }),
    cents: fc.integer({ min: 0, max: 500_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 4, maxLength: 40 }), fc.integer({ min: 2, max: 5 }), async (rows, apart) => {
      const cells = rows.map(({ item, bay, pieces, cents }) => [item, bay, String(pieces), (cents / 100).toFixed(2)]);
      const table = [['Item name', 'Bay', 'Pieces', 'Unit cost'], ...cells];
      const profile = await profileText(aligned(table, [2, 3], apart).join('\n'), 'stock.txt');
      const asCsv = await profileText(table.map((each) => each.join(';')).join('\n'));
      assert.deepEqual([profile.rows, profile.columns], [asCsv.rows, asCsv.columns]);
    }),
    { numRuns: 100 },
  );
});

const others: Record<string, string> = {
  prose:
    'The depot was closed on Monday.  We opened again on Tuesday.\nAll 14 vans were checked.  Two of them failed.\nThe repairs cost 310 euros.  The insurance pays 200.\nNobody was hurt.  Work went on.\n',
  minutes:
    'Minutes of the board\n\nPresent:   Anna Berg, Tom Ode\nExcused:   Lea Roth\nDate:      3 May 2025\nPlace:     Room 4\n\n1.  Budget     The board agreed on 4,000.\n2.  Date       The next meeting is on 7 June.\n',
  code: 'const total   = 0;\nconst limit   = 20;\nlet   rows    = 14;\nlet   columns = 3;\n\nfunction add(a, b) {\n  return a + b;   // sum\n}\n',
  'aligned comments': 'start()        # 1\n  load(file)   # 2\n  check(file)  # 3\nstop()         # 4\n',
  list: 'Shopping\n\n- Milk       2\n- Bread      1\n- Apples    12\n- Butter     3\n',
  log: '2025-05-01 10:00:01  INFO   api    started in 40 ms\n2025-05-01 10:00:04  WARN   db     retry 2\n2025-05-01 10:00:09  ERROR  db     gave up after 3\n2025-05-01 10:00:12  INFO   api    stopped\n',
  'levelled log':
    'INFO   10:00:01  api  started\nWARN   10:00:04  db   retry 2\nINFO   10:00:05  db   connected\nINFO   10:00:09  api  ready\n',
  settings: 'timeout     30\nretries     5\nworkers     8\nport        8080\n',
  contents: 'Introduction          3\nMethods              10\nResults              24\nDiscussion           31\n',
  address: 'Rowe Ltd.                    Invoice 12\n4 Mill Lane                  3 May 2025\nLeeds                        Customer 77\n',
  poem: 'The  rain\n  falls  down\n    and  down\n      again  today\n        and  on\n',
  'two columns of prose':
    'The first column tells of    The second column tells of\nthe river and the town it    the hill behind the town,\nruns through, in 1850 as     where nobody lived before\nmuch as it does today.       the railway came in 1871.\n',
};

for (const [what, text] of Object.entries(others))
  test(`${what} is not taken for an aligned table`, () => {
    assert.equal(alignedLayout(text), null);
  });

test('texts of blanks and words of any form are examined within bounds', { timeout: 10_000 }, () => {
  for (const text of [' '.repeat(128_000), `${'a  '.repeat(600)}\n`.repeat(70), '-  \n'.repeat(32_000), 'a  b\n'.repeat(25_000)])
    alignedLayout(text);
});
