/** The text of Word documents as Markdown, and what of hostile ones is refused. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { documentText } from '../../../src/providers/office/document-text.ts';
import { zipOf } from '../../support/office-files.ts';

const styles =
  '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Punkte"><w:name w:val="List Bullet"/></w:style></w:styles>';
const documentOf = (body: string, parts: Record<string, string> = {}) =>
  zipOf({
    'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    'word/styles.xml': styles,
    ...parts,
  });
const textOf = (bytes: Buffer) => documentText(Readable.from([bytes]), 'note.docx');
const p = (text: string, properties = '') =>
  `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
const row = (...cells: string[]) => `<w:tr>${cells.join('')}</w:tr>`;

test('headings by their style in any language, paragraphs and lists come in their order', async () => {
  const text = await textOf(
    documentOf(
      [
        p('Board meeting', '<w:pStyle w:val="berschrift1"/>'),
        '<w:p><w:r><w:t>The roof costs </w:t></w:r><w:r><w:t>900 &amp; more.</w:t></w:r></w:p>',
        p('Sub', '<w:outlineLvl w:val="1"/>'),
        p('Ann orders tiles', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'),
        p('Bo calls', '<w:pStyle w:val="Punkte"/>'),
        p('No item', '<w:pStyle w:val="Punkte"/><w:numPr><w:numId w:val="0"/></w:numPr>'),
      ].join(''),
    ),
  );
  assert.equal(text, '# Board meeting\n\nThe roof costs 900 & more.\n\n## Sub\n\n- Ann orders tiles\n- Bo calls\n\nNo item\n');
});

test('tables have a line for each row; merged and nested cells keep their places', async () => {
  const inner = `<w:tbl>${row(cell('x'), cell('y'))}</w:tbl>`;
  const text = await textOf(
    documentOf(
      `<w:tbl>${row(cell('Site'), cell('Item'), cell('Cost'))}${row(cell('North', '<w:vMerge w:val="restart"/>'), cell('a|b'), cell('12'))}${row(cell('', '<w:vMerge/>'), cell('c'), cell('7'))}${row(cell('Total', '<w:gridSpan w:val="2"/>'), `<w:tc>${inner}${p('19')}</w:tc>`)}</w:tbl>`,
    ),
  );
  assert.equal(text, '| Site | Item | Cost |\n| --- | --- | --- |\n| North | a\\|b | 12 |\n| North | c | 7 |\n| Total |  | x y 19 |\n');
});

test('deleted and moved text and second forms of drawings are left out', async () => {
  const text = await textOf(
    documentOf(
      '<w:p><w:del><w:r><w:delText>old </w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved </w:t></w:r></w:moveFrom><w:ins><w:r><w:t>new</w:t></w:r></w:ins><mc:AlternateContent><mc:Choice><w:r><w:t> box</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t> box</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>',
    ),
  );
  assert.equal(text, 'new box\n');
});

test('damaged, hostile and too large documents are refused with what to do', async () => {
  const refused = (bytes: Buffer, message: RegExp) => assert.rejects(textOf(bytes), { name: 'ToolError', message });
  await refused(Buffer.from('PK'), /note\.docx is damaged: its directory is missing/);
  await refused(zipOf({ 'xl/workbook.xml': '<workbook/>' }), /the part word\/document\.xml is missing/);
  await refused(documentOf('<w:p>'), /is damaged: its elements are not nested/);
  await refused(documentOf('', { 'word/document.xml': '<!DOCTYPE x><w:document/>' }), /declares a document type/);
  await refused(documentOf(`${'<w:p>'.repeat(300)}`), /nested too deeply/);
  await refused(documentOf(p('x'.repeat(4_000_001))), /has more than 4000000 characters/);
});
