/** Word documents: their text is read as other texts are, and a table of figures in them as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipOf } from '../../../support/office-files.ts';
import { runAgent } from './agent-loop.ts';

const paragraph = (text: string, style = '') =>
  `<w:p>${style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
const row = (cells: readonly string[]) => `<w:tr>${cells.map((text) => `<w:tc>${paragraph(text)}</w:tc>`).join('')}</w:tr>`;
const minutes = zipOf({
  'word/document.xml': `<w:document><w:body>${[
    paragraph('Minutes of the rowing club', 'Heading1'),
    paragraph('Date: Saturday, 8 November 2025'),
    paragraph('Present: Nora Feld, Anna Berg'),
    paragraph('Boats', 'Heading2'),
    paragraph('The purchase of a boat was approved unanimously. Anna will ask three builders by 15 December.'),
    paragraph('It is still open who pays for the trailer.'),
    paragraph('Who does what', 'Heading2'),
    '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>The caretaker clears the shed in July</w:t></w:r></w:p>',
    `<w:tbl>${[
      ['Boat', 'Year', 'Cost'],
      ['Swift', '2019', '1,200'],
      ['Heron', '2021', '1,800'],
      ['Otter', '2023', '2,500'],
    ]
      .map(row)
      .join('')}</w:tbl>`,
  ].join('')}</w:body></w:document>`,
});

test('minutes in a Word document are summarised, and their table is a table', async () => {
  const { workspace } = await runAgent('Summarise minutes.docx: what was decided, who has to do what, and what is not settled yet?', {
    files: { 'minutes.docx': minutes },
  });
  const report = [...workspace.files.keys()]
    .filter((name) => name.endsWith('.md'))
    .map((name) => workspace.text(name))
    .join('\n');
  assert.match(report, /\| The purchase of a boat was approved unanimously\. \| Boats \|/);
  assert.match(report, /\| Anna \| Anna will ask three builders by 15 December\. \| 15 December \| 2025-12-15/);
  assert.match(report, /The caretaker clears the shed in July \|/);
  // A question that the text answers is not said to be read by no rule of tables.
  assert.match(report, /\| It is still open who pays for the trailer\. \| open \|/);
  assert.doesNotMatch(report, /No rule of the offline model reads/);
  assert.match(report, /minutes\.docx: 3 rows, 3 columns \(table in a Word document, utf-8\)/);
  assert.match(report, /Cost adds up to 5,500/);
});

test('a damaged Word document is named with what to do', async () => {
  const { summary } = await runAgent('Summarise minutes.docx', { files: { 'minutes.docx': minutes.subarray(0, 200) } });
  assert.match(summary, /minutes\.docx is damaged: .*save it anew, and upload that/);
});
