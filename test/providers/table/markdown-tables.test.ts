/** Tables in Markdown texts: they have the same profile as the same table in CSV, and the text around them stays a text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataTable, markdownTables } from '../../../src/providers/table/markdown-tables.ts';
import { runAgent } from '../model/offline/agent-loop.ts';
import { column, numbersOf, profileText } from './tables.ts';

const stalls = [
  ['Stall', 'Roof', 'Before', 'After', 'Note'],
  ['Plum', 'yes', '120', '131', ''],
  ['Fig', 'no', '80', 'n/a', 'not counted'],
  ['Lime', 'yes', '95', '–', ''],
  ['Date', 'no', '60', '72', 'moved'],
];
const markdown = (rows: readonly (readonly string[])[]) => {
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return [lines[0], `|${rows[0]!.map((_, i) => (i === 2 ? '---:' : ':--')).join('|')}|`, ...lines.slice(1)].join('\n');
};
const total = ['**Total**', '', '**355**', '**203**', ''];
const text = `# Stalls\n\nMean takings a day. Before is March.\n\n${markdown([...stalls, total])}\n\nThe roof cost EUR 900.\n`;

test('a table in a Markdown text has the figures of the same table in CSV, without its row of totals', async () => {
  const profile = await profileText(text, 'stalls.md');
  const asCsv = await profileText([...stalls, ['Total', '', '355', '203', '']].map((row) => row.join(';')).join('\n'));
  assert.equal(profile.format, 'markdown');
  assert.deepEqual([profile.rows, profile.columns, profile.groups], [asCsv.rows, asCsv.columns, asCsv.groups]);
  assert.deepEqual([numbersOf(profile, 'Before').sum, numbersOf(profile, 'After').sum], [355, 203]);
  assert.equal(column(profile, 'After').missing, 2);
  assert.match(profile.remarks.map(({ text: remark }) => remark).join('\n'), /Row 5 \("Total"\) is a total, not a record/);
});

test('the report has the figures of the table and the sentences around it, with their line numbers', async () => {
  const { workspace, calls } = await runAgent('Did the takings rise in stalls.md?', { files: { 'stalls.md': text } });
  assert.equal(calls.filter(({ name }) => name === 'profile_table').length, 1);
  const report = workspace.text('report.md');
  assert.match(report, /^# Report: stalls\.md\n/);
  assert.match(report, /stalls\.md: 4 rows and 1 total row, 5 columns \(table in Markdown, utf-8\)/);
  assert.match(report, /Before adds up to 355 over 4 rows/);
  assert.match(report, /\| Mean takings a day\. \| stalls\.md \| 3 \|/);
  assert.match(report, /\| EUR 900 \| The roof cost EUR 900\. \| 13 \|/);
  assert.doesNotMatch(report, /\| 120 \| Plum/);
});

test('of several tables the largest with numbers is read, and the others are named', async () => {
  const small = markdown([['Kind', 'Price'], ...['a', 'b', 'c'].map((kind, i) => [kind, `${i}.5`])]);
  const actions = markdown([
    ['No', 'Task', 'Owner', 'Until', 'State'],
    ...[1, 2, 3, 4, 5, 6].map((n) => [String(n), 'Call', 'Ana', 'May', 'open']),
  ]);
  const profile = await profileText(`${small}\n\n${text}\n${actions}\n`, 'notes.md');
  assert.deepEqual(
    profile.columns.map(({ name }) => name),
    stalls[0],
  );
  assert.match(
    profile.warnings.join('\n'),
    /only the largest with numbers is read, in line 11\. Not read: the table in line 1 \(Kind, Price\); the table in line 21 \(No, Task, Owner, Until, State\)\./,
  );
  assert.equal(dataTable(actions.split('\n')), null, 'a list of actions is a text');
});

test('bars in code blocks, in prose and behind a backslash make no cells, and rows fit the header', () => {
  const table = 'a | b\n--|--\nx \\| y | 1 | surplus\nz\n';
  const [found, ...others] = markdownTables(['```', '| a | b |', '|---|---|', '```', 'one | two', 'prose', ...table.split('\n')]);
  assert.deepEqual(others, []);
  assert.deepEqual([found!.names, found!.rows, found!.start, found!.end], [['a', 'b'], [['x | y', '1']], 6, 9]);
});

test('a text of bars is read in one pass', () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? '| a | b |' : '|||||||'));
  assert.deepEqual(markdownTables(lines), []);
  assert.equal(
    markdownTables(
      Array.from({ length: 1000 }, () => '| a | b |\n|---|---|\n| 1 | 2 |\n')
        .join('\n')
        .split('\n'),
    ).length,
    100,
  );
});
