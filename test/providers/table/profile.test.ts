/** profileTable against independent, naive figures, and against every kind of broken file. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ToolError } from '../../../src/errors.ts';
import { profileTable } from '../../../src/providers/table/profile.ts';
import { zipOf } from '../../support/office-files.ts';
import { column, numbersOf, opening, profileText } from './tables.ts';

test('figures of a small table equal those computed by hand', async () => {
  const profile = await profileText('region,amount\nNorth,0.10\nSouth,0.20\nNorth,0.30\nSouth,\nEast,100\n');
  assert.equal(profile.rows, 5);
  assert.deepEqual(
    profile.columns.map(({ name, type, missing, distinct }) => ({ name, type, missing, distinct })),
    [
      { name: 'region', type: 'text', missing: 0, distinct: 3 },
      { name: 'amount', type: 'number', missing: 1, distinct: 4 },
    ],
  );
  const amount = numbersOf(profile, 'amount');
  assert.equal(amount.sum, 100.6);
  assert.equal(amount.mean, 25.15);
  assert.equal(amount.median, 0.25);
  assert.deepEqual([amount.min, amount.min_row, amount.max, amount.max_row], [0.1, 1, 100, 5]);
});

test('sum, mean, median, quartiles and deviation agree with naive computation for any cents', async () => {
  const cents = fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), { minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(cents, async (values) => {
      const profile = await profileText(`label,amount\n${values.map((value) => `x,${(value / 100).toFixed(2)}`).join('\n')}\n`);
      const found = numbersOf(profile, 'amount');
      const total = values.reduce((sum, value) => sum + BigInt(value), 0n);
      assert.equal(found.sum.toFixed(2), (Number(total) / 100).toFixed(2));
      assert.ok(Math.abs(found.mean - Number(total) / 100 / values.length) < 1e-6);
      const sorted = values.map((value) => value / 100).sort((a, b) => a - b);
      const at = (share: number) => {
        const place = (sorted.length - 1) * share;
        const low = sorted[Math.floor(place)]!;
        return low + (sorted[Math.ceil(place)]! - low) * (place - Math.floor(place));
      };
      for (const [got, share] of [
        [found.q1, 0.25],
        [found.median, 0.5],
        [found.q3, 0.75],
      ] as const)
        assert.ok(Math.abs(got - at(share)) < 1e-6);
      const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
      const deviation =
        sorted.length > 1 ? Math.sqrt(sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (sorted.length - 1)) : 0;
      assert.ok(Math.abs(found.standard_deviation - deviation) <= 1e-6 * Math.max(1, deviation));
      assert.deepEqual([found.min, found.max], [sorted[0], sorted.at(-1)]);
    }),
    { numRuns: 60 },
  );
});

test('a hundred thousand tenths add up to exactly ten thousand', async () => {
  const profile = await profileText(`n,x\n${'a,0.1\n'.repeat(100_000)}`);
  assert.equal(numbersOf(profile, 'x').sum, 10_000);
});

test('group figures add up to the column and have correct medians', async () => {
  const row = fc.record({ region: fc.constantFrom('A', 'B', 'C'), cents: fc.integer({ min: 0, max: 100_000 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 12, maxLength: 80 }), async (rows) => {
      fc.pre(new Set(rows.map(({ region }) => region)).size >= 2);
      const profile = await profileText(
        `region,amount\n${rows.map(({ region, cents }) => `${region},${(cents / 100).toFixed(2)}`).join('\n')}`,
      );
      const group = profile.groups.find(({ by }) => by === 'region')!;
      for (const { value, rows: count, figures } of group.values) {
        const own = rows
          .filter(({ region }) => region === value)
          .map(({ cents }) => cents)
          .sort((a, b) => a - b);
        assert.equal(count, own.length);
        assert.equal(
          Math.round(figures.amount!.sum * 100),
          own.reduce((sum, cents) => sum + cents, 0),
        );
        const middle = (own[Math.floor((own.length - 1) / 2)]! + own[Math.ceil((own.length - 1) / 2)]!) / 2;
        assert.ok(Math.abs(figures.amount!.median! * 100 - middle) < 1e-6);
      }
    }),
    { numRuns: 40 },
  );
});

test('outliers are listed with their rows, the farthest first', async () => {
  const values = Array.from({ length: 40 }, (_, i) => 100 + (i % 7));
  values[10] = 5000;
  values[30] = -900;
  const { outliers } = numbersOf(await profileText(`id,v\n${values.map((v, i) => `k${i},${v}`).join('\n')}`), 'v');
  assert.equal(outliers.count, 2);
  assert.deepEqual(
    outliers.most_extreme.map(({ row, value }) => [row, value]),
    [
      [11, 5000],
      [31, -900],
    ],
  );
  assert.equal(outliers.most_extreme[0]!.cells.id, 'k10');
});

test('dates give a trend by month and proportional columns correlate perfectly', async () => {
  const rows = Array.from({ length: 12 }, (_, m) => `2024-${String(m + 1).padStart(2, '0')}-15,${m},${m * 2.5}`);
  const profile = await profileText(`day,a,b\n${rows.join('\n')}`);
  assert.deepEqual(column(profile, 'day').dates, { first: '2024-01-15', last: '2024-12-15', count: 12 });
  assert.equal(profile.trend?.period, 'month');
  assert.equal(profile.trend?.points.length, 12);
  assert.equal(profile.trend?.points[11]?.figures.b?.sum, 27.5);
  assert.deepEqual(profile.correlations, [{ columns: ['a', 'b'], r: 1, rows: 12 }]);
});

for (const [delimiter, name] of [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'pipe'],
] as const) {
  test(`a table separated by ${name} is recognised`, async () => {
    const profile = await profileText(`a,b,c\nx,1,2\ny,3,4\n`.replaceAll(',', delimiter));
    assert.equal(profile.delimiter, delimiter);
    assert.equal(numbersOf(profile, 'c').sum, 6);
  });
}

test('decimal commas, thousands, currencies, percent and parentheses are numbers', async () => {
  const german = await profileText('ort;umsatz\nA;1.234,56 €\nB;-0,5 €\nC;1.000 €\n');
  assert.equal(numbersOf(german, 'umsatz').sum, 2234.06);
  assert.equal(column(german, 'umsatz').unit, '€');
  const english = await profileText('what,v,p\nA,"$1,234.56",12%\nB,($34.56),8.5%\nC,$-100,0%\n');
  assert.equal(numbersOf(english, 'v').sum, 1100);
  assert.equal(column(english, 'p').unit, '%');
  assert.equal(numbersOf(english, 'p').sum, 20.5);
});

test('one unambiguous number decides how its whole column is read', async () => {
  assert.equal(numbersOf(await profileText('a;b\nx;1.234\ny;2,5\n'), 'b').sum, 1236.5);
  const doubtful = await profileText('a;b\nx;"1,234"\ny;"2,345"\n');
  assert.equal(numbersOf(doubtful, 'b').sum, 3579);
  assert.match(doubtful.warnings.join(), /could mean two things/);
});

test('day-first and month-first dates are distinguished by the column, and doubt is reported', async () => {
  assert.equal(column(await profileText('d,x\n03/04/2024,a\n25/04/2024,b\n'), 'd').dates?.first, '2024-04-03');
  assert.equal(column(await profileText('d,x\n03/04/2024,a\n04/25/2024,b\n'), 'd').dates?.first, '2024-03-04');
  assert.match((await profileText('d,x\n03/04/2024,a\n')).warnings.join(), /dates like 03\/04\/2024/);
  assert.equal(column(await profileText('d;x\n3. März 2024;a\n24.12.2024;b\n'), 'd').dates?.last, '2024-12-24');
  assert.equal(column(await profileText('d,x\n2024-02-30,a\n'), 'd').type, 'text');
});

test('zip codes and long identifiers are text, booleans are booleans, NA and - are missing', async () => {
  const profile = await profileText(
    'zip,card,ok,n\n01234,1234567890123456,yes,1\n98765,1234567890123457,no,NA\n10115,1234567890123458,yes,-\n',
  );
  assert.deepEqual(
    profile.columns.map(({ type }) => type),
    ['text', 'text', 'boolean', 'integer'],
  );
  assert.equal(column(profile, 'n').missing, 2);
});

test('a column that is mostly numbers reports how many cells are not', async () => {
  const mixed = column(await profileText('a,b\nx,1\ny,2\nz,oops\nw,3\n'), 'b');
  assert.equal(mixed.type, 'mixed');
  assert.equal(mixed.numbers?.sum, 6);
  assert.deepEqual(mixed.unlike, { count: 1, examples: ['oops'] });
});

test('byte order marks and UTF-16 in both orders, marked or not, are read', async () => {
  const text = 'größe,wert\nä,1\nü,2\nß,39\n';
  for (const bytes of [
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
  ]) {
    const profile = await profileTable(opening(bytes, 7), 't.csv');
    assert.equal(profile.columns[0]!.name, 'größe');
    assert.equal(numbersOf(profile, 'wert').sum, 42);
  }
});

test('Windows-1252 is recognised by bytes that are not UTF-8', async () => {
  const profile = await profileTable(opening(Buffer.from('stadt;preis\nMünchen;10\nKöln;5\n', 'latin1')), 't.csv');
  assert.equal(profile.encoding, 'windows-1252');
  assert.deepEqual(
    profile.columns[0]!.frequent?.map(({ value }) => value),
    ['Köln', 'München'],
  );
});

test('one damaged character does not spoil a UTF-8 file', async () => {
  const bytes = Buffer.concat([Buffer.from('stadt,x\n'), Buffer.from('München,1\n'.repeat(20)), Buffer.from([0xff]), Buffer.from(',1\n')]);
  const profile = await profileTable(opening(bytes), 't.csv');
  assert.equal(profile.encoding, 'utf-8');
  assert.match(profile.warnings.join(), /broken UTF-8/);
});

test('ragged rows are counted and named, not fatal', async () => {
  const profile = await profileText('a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,1,1\n');
  assert.deepEqual(profile.ragged_rows, {
    count: 2,
    first: [
      { row: 2, cells: 2 },
      { row: 3, cells: 4 },
    ],
  });
  assert.equal(numbersOf(profile, 'a').sum, 12);
  assert.equal(column(profile, 'c').missing, 1);
});

test('quotes, embedded line breaks, doubled quotes and CRLF are understood', async () => {
  const profile = await profileText('a,b\r\n"x, ""y""\r\nz",1\r\nplain,2\r\n');
  assert.equal(profile.rows, 2);
  assert.ok(profile.columns[0]!.frequent?.some(({ value }) => value === 'x, "y"\r\nz'));
});

test('a quote that never closes is reported and no row is swallowed', async () => {
  const profile = await profileText(`a,b\n1,2\n"broken,3\n${'5,6\n'.repeat(50)}`);
  assert.equal(profile.rows, 52);
  assert.match(profile.warnings.join(), /never closed/);
  assert.equal(numbersOf(profile, 'b').sum, 305);
});

test('a stray quote in the middle of a cell is ordinary text', async () => {
  assert.equal((await profileText('a,b\n5" pipe,1\n6"x",2\n')).rows, 2);
});

test('rows lost between two stray quotes are reported', async () => {
  const profile = await profileText('a,b,c\n"x,1,2\ny,3,4\nz,5,6\nw",7,8\nv,9,9\n');
  assert.match(profile.warnings.join(), /like whole rows/);
});

test('an empty file, blank lines only and a header alone are reported as such', async () => {
  assert.deepEqual((await profileText('')).warnings, ['The file is empty.']);
  assert.equal((await profileText('\n\n\r\n')).rows, 0);
  const header = await profileText('a,b,c\n');
  assert.deepEqual([header.rows, header.column_count, header.warnings[0]], [0, 3, 'The table has a header and no rows.']);
});

test('a first row of figures is data, a first row of years is a header', async () => {
  const bare = await profileText('1,2\n3,4\n');
  assert.deepEqual([bare.has_header, bare.rows, bare.columns[0]!.name], [false, 2, 'column_1']);
  const years = await profileText('country,2019,2020\nDE,1,2\nFR,3,4\n');
  assert.deepEqual([years.has_header, years.rows], [true, 2]);
});

test('lines above the header are skipped and reported', async () => {
  const profile = await profileText('Sales report 2024\n\nregion,amount\nN,1\nS,2\n');
  assert.equal(numbersOf(profile, 'amount').sum, 3);
  assert.match(profile.warnings.join(), /1 line above the header/);
});

test('repeated, empty and dangerous names stay distinct', async () => {
  const profile = await profileText('x,x,,__proto__,constructor\na,1,2,3,4\nb,1,2,3,5\na,1,2,3,4\nb,1,1,1,1\n');
  assert.deepEqual(
    profile.columns.map(({ name }) => name),
    ['x', 'x (2)', 'column_3', '__proto__', 'constructor'],
  );
  const figures = profile.groups.find(({ by }) => by === 'x')!.values[0]!.figures;
  assert.equal(Object.getOwnPropertyDescriptor(figures, '__proto__')?.value.sum, 6);
  assert.equal(({} as { sum?: number }).sum, undefined);
});

for (const [what, bytes, name] of [
  ['a PDF', Buffer.from('%PDF-1.7\nstuff'), 'a.csv'],
  ['a text document', Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0]), 'a.odt'],
  ['a PNG image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), 'a.csv'],
  ['binary data', Buffer.concat([Buffer.from('a,b\n1,2\n'.repeat(30)), Buffer.from([0, 1, 2, 0, 200])]), 'a.csv'],
  ['binary data', Buffer.from(Array.from({ length: 500 }, (_, i) => (i % 26) + 1)), 'a.csv'],
] as const) {
  test(`${what} called ${name} is refused with the reason`, async () => {
    await assert.rejects(
      profileTable(opening(bytes), name),
      (error) => error instanceof ToolError && error.message.includes(what) && /CSV, TSV, JSON, XLSX and DOCX only/.test(error.message),
    );
  });
}

test('a Word document is read for its table; one that is damaged or has no table of figures is refused with the reason', async () => {
  const cell = (text: string) => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const documentOf = (rows: readonly string[][]) =>
    zipOf({
      'word/document.xml': `<w:document><w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`).join('')}</w:tbl></w:document>`,
    });
  const figures = documentOf([
    ['site', 'cost'],
    ['N', '10'],
    ['S', '20'],
    ['E', '30'],
  ]);
  const profile = await profileTable(opening(figures), 'a.docx');
  assert.deepEqual([profile.format, profile.rows, numbersOf(profile, 'cost').sum], ['docx', 3, 60]);
  const refused = (bytes: Buffer, message: RegExp) =>
    assert.rejects(profileTable(opening(bytes), 'a.docx'), { name: 'ToolError', message });
  await refused(figures.subarray(0, 60), /a\.docx is damaged/);
  await refused(documentOf([['task'], ['paint']]), /a\.docx has no table of figures/);
});

test('JSON arrays, nested arrays, lines and nested objects are tables', async () => {
  const records = [
    { region: 'N', amount: 1.5, at: { city: 'Köln' } },
    { region: 'S', amount: null },
    { amount: 2.25, region: 'N', tags: ['a', { b: ']' }] },
  ];
  const forms = [
    JSON.stringify(records),
    JSON.stringify(records, null, 2),
    JSON.stringify({ meta: { page: 1, tags: ['q'] }, data: records, more: [1] }),
    records.map((record) => JSON.stringify(record)).join('\n'),
    `\ufeff${records.map((record) => JSON.stringify(record)).join('\r\n')}\r\n`,
  ];
  for (const text of forms) {
    const profile = await profileTable(opening(Buffer.from(text), 5), 'x.json');
    assert.equal(profile.rows, 3, text);
    assert.equal(numbersOf(profile, 'amount').sum, 3.75);
    assert.equal(column(profile, 'at.city').missing, 2);
  }
  assert.equal((await profileText('{"a":1,"b":{"c":2}}', 'x.json')).rows, 1);
  assert.equal((await profileText('[]', 'x.json')).rows, 0);
});

test('broken JSON is refused with the record where it breaks', async () => {
  for (const text of ['[{"a":1},{"a":}]', '[{"a":1},{"a":2', '{"a":1}\n{"a"\n', 'hello', '[1}'])
    await assert.rejects(profileText(text, 'x.json'), ToolError);
});

test('thousands of columns are bounded, and a table too wide to be one is refused', async () => {
  const names = Array.from({ length: 5000 }, (_, i) => `c${i}`);
  const profile = await profileText(`${names.join(',')}\n${names.map((_, i) => i).join(',')}\n`);
  assert.equal(profile.column_count, 5000);
  assert.equal(profile.columns.length, 200);
  assert.match(profile.warnings.join(), /only the first 200/);
  await assert.rejects(profileText(`${'a,'.repeat(20_000)}\n`), /columns; at most/);
});

test('a cell of a megabyte is read, a row of many megabytes is refused', async () => {
  const profile = await profileText(`a,b\n${'x'.repeat(1_000_000)},1\ny,2\n`);
  assert.equal(profile.rows, 2);
  assert.ok(JSON.stringify(profile).length < 5000);
  await assert.rejects(profileText(`a,b\n${'x'.repeat(6_000_000)},1\n`), /longer than/);
});

test('for any bytes a failure has a reason', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('x.csv', 'x.json', 'x.txt'), async (bytes, name) => {
      await profileTable(opening(Buffer.from(bytes), 11), name).catch((error) => assert.ok(error instanceof ToolError, String(error)));
    }),
    { numRuns: 300 },
  );
});

test('no text of delimiters, quotes and figures makes it fail or count rows wrongly', async () => {
  const soup = fc.string({ unit: fc.constantFrom(',', ';', '"', '\n', '\r\n', '1', '.5', 'a', ' ', '-', '{', ']', 'é'), maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(soup, fc.constantFrom('x.csv', 'x.json'), async (text, name) => {
      await profileText(text, name).catch((error) => assert.ok(error instanceof ToolError, `${error.stack}`));
    }),
    { numRuns: 500 },
  );
});

test('a total of subtotals is checked against all records, also right below the last subtotal', async () => {
  const lines = [
    'January,10,20,1',
    'February,11,21,2',
    'Q1 total,21,41,3',
    'March,12,22,3',
    'April,13,23,4',
    'Q2 total,25,45,7',
    'Total 2024,46,85,10',
  ];
  const { remarks } = await profileText(`month,north,south,west\n${lines.join('\n')}\n`);
  const last = remarks.find(({ text }) => text.startsWith('Row 7'))!.text;
  assert.match(
    last,
    /agrees with the sum of its rows \(north 46 and west 10\); it does not agree with the rows: south is written as 85 but the rows add up to 86/,
  );
});
