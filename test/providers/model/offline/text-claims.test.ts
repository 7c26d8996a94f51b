/** What a text says of counts and sums, compared with a table; the figures are computed by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const gifts = Array.from(
  { length: 24 },
  (_, i) => `G${i + 1},2025-03-${String(i + 1).padStart(2, '0')},${i < 6 ? 'company' : 'person'},${i === 20 ? '' : i < 6 ? 100 : 20}`,
);
const files = {
  'gifts.csv': `gift,date,kind,amount_gbp\n${gifts.join('\n')}\n`,
  'article.txt':
    'The mast is up again\n\nThe new mast cost £1,000. Twenty-four people and firms gave us more than £700 in one month. Companies gave £600 of it. The county paid £900 too.\n',
};

test('what a text says of a count and a sum is told beside what the table has, with the difference', async () => {
  const { workspace, summary } = await runAgent('Check what article.txt says about the donations against gifts.csv.', { files });
  const report = workspace.text('report.md').replace(/\\([|<>[\]`*])/g, '$1');
  const [, answer] = report.split('## What was asked');
  assert.match(
    answer!,
    /article\.txt, line 3, and gifts\.csv: "Twenty-four people" beside 24 rows, the same; "£700" beside amount_gbp, which adds up to 940 over 23 rows, 240 more \(1 row without a countable amount_gbp: missing in 1\)\./,
  );
  assert.match(answer!, /"£600" beside amount_gbp with kind company, which adds up to 600 over 6 rows, the same\./);
  assert.doesNotMatch(answer!, /beside[^\n]*(?:£900|£1,000)|(?:£900|£1,000)"? beside/);
  assert.match(summary, /adds up to 940 over 23 rows, 240 more/);
});

test('a text without a figure of the table is said to be not compared', async () => {
  const { workspace } = await runAgent('Check what article.txt says against gifts.csv.', {
    files: { ...files, 'article.txt': 'The mast is up again. It is 24 metres high and cost £41,800.\n' },
  });
  assert.match(
    workspace.text('report.md'),
    /Not compared: no count or sum in article\.txt could be related to the figures of gifts\.csv\./,
  );
});
