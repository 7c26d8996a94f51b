import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { profileTable } from '../../../../src/providers/table/profile.ts';
import { workbookOf, workbookParts, zipOf } from '../../../support/office-files.ts';

const profileOf = (bytes: Buffer) => profileTable(async () => Readable.from([bytes]), 'book.xlsx');
const plain = () =>
  workbookParts([
    {
      name: 'S',
      rows: [
        ['item', 'pieces'],
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
    },
  ]);
const sheet = 'xl/worksheets/sheet1.xml';
const withSheet = (body: string) => zipOf({ ...plain(), [sheet]: `<worksheet>${body}</worksheet>` });
const refused = (bytes: Buffer, message: RegExp) => assert.rejects(profileOf(bytes), { name: 'ToolError', message });

test('a workbook that unpacks to far more than its size is refused', async () => {
  const zeros = Buffer.alloc(300 * 1024 * 1024, ' ');
  await refused(zipOf({ ...plain(), [sheet]: zeros }), /unpacks to more than 256 MiB\. Save what is needed of it as CSV/);
});

test('sizes and offsets that lie do no harm', async () => {
  assert.equal((await profileOf(zipOf(plain(), { claimedBytes: 1 }))).rows, 3);
  await refused(zipOf(plain(), { offsetBy: 5 }), /is not where the directory says.*save it anew/);
  await refused(zipOf(plain(), { offsetBy: 10_000_000 }), /is not where the directory says/);
  await refused(workbookOf([{ name: 'S', rows: [] }]).subarray(0, 400), /its directory is missing/);
  await refused(Buffer.from('PK'), /its directory is missing/);
  await refused(zipOf(plain(), { flags: 1 }), /is encrypted\. Save it without a password/);
  const cut = zipOf(plain());
  cut.fill(0xff, 40, 200);
  await refused(cut, /is damaged/);
});

test('document types, and with them entities, are refused', async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet>&b;</worksheet>`;
  await refused(zipOf({ ...plain(), [sheet]: bomb }), /declares a document type/);
  const outside = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><workbook/>';
  await refused(zipOf({ ...plain(), 'xl/workbook.xml': outside }), /declares a document type/);
});

test('sheets that lie outside the file are not read', async () => {
  const parts = plain();
  parts['xl/_rels/workbook.xml.rels'] = parts['xl/_rels/workbook.xml.rels']!.replace(
    'Target="worksheets/sheet1.xml"',
    'Target="http://127.0.0.1/" TargetMode="External"',
  );
  await refused(zipOf(parts), /has no sheet with cells/);
  parts['xl/_rels/workbook.xml.rels'] = plain()['xl/_rels/workbook.xml.rels']!.replace('worksheets/sheet1.xml', '../../../../etc/passwd');
  await refused(zipOf(parts), /the part \S+ is missing/);
});

test('a million styled cells without a value cost no memory, and too many values are refused', async () => {
  const empty = Array.from({ length: 20_000 }, (_, i) => `<row r="${i + 2}">${'<c s="1"/>'.repeat(50)}</row>`).join('');
  const profile = await profileOf(
    withSheet(
      `<sheetData><row r="1"><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>${empty}</sheetData>`,
    ),
  );
  assert.equal(profile.rows, 0);
  const wide = Array.from({ length: 200 }, (_, i) => `<row r="${i + 1}"><c r="XFD${i + 1}"><v>1</v></c></row>`).join('');
  await refused(withSheet(`<sheetData>${wide}</sheetData>`), /too many cells to be read\. Save the sheet that matters as CSV/);
});

test('cells outside a sheet, broken nesting and endless tags are refused', async () => {
  await refused(withSheet('<sheetData><row r="0"><c/></row></sheetData>'), /no number within a sheet/);
  await refused(withSheet('<sheetData><row r="1"><c r="ZZZZ1"><v>1</v></c></row></sheetData>'), /has the address/);
  await refused(withSheet('<sheetData><row r="1"></sheetData></row>'), /not nested/);
  await refused(withSheet('<a>'.repeat(100_000)), /nested too deeply/);
  await refused(withSheet(`<a ${'x'.repeat(2_000_000)}`), /a tag is too long/);
});

test('formulas that read long columns again and again end at their bound', async () => {
  const rows = Array.from(
    { length: 20_000 },
    (_, i) => `<row r="${i + 1}"><c><v>${i}</v></c><c><f>SUM(A$1:A$20000)</f><v>1</v></c></row>`,
  ).join('');
  const { remarks } = await profileOf(withSheet(`<sheetData>${rows}</sheetData>`));
  assert.ok(remarks.some(({ kind, text }) => kind === 'formula_unchecked' && text.includes('not computed again')));
});

test('formulas that read themselves keep their stored values', async () => {
  const profile = await profileOf(
    workbookOf([
      {
        name: 'S',
        rows: [
          ['item', 'a', 'b'],
          ['x', { f: 'C2+B2', v: 1 }, { f: 'B2+C2', v: 2 }],
          ['y', { f: 'C3+B3', v: 3 }, { f: 'B3+C3', v: 4 }],
        ],
      },
    ]),
  );
  assert.equal(profile.rows, 2);
});
