/** Tables without rows: nothing is computed of them, and the report says why and what to do next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

async function reportOn(prompt: string, files: Record<string, string>): Promise<string> {
  return (await runAgent(prompt, { files })).workspace.text('report.md');
}

test('of files without rows no figure is computed, and an empty file has no form', async () => {
  const report = await reportOn('What is the total amount per carrier in claims.csv and carriers.tsv?', {
    'claims.csv': 'claim_no,carrier_id,amount_eur\n',
    'carriers.tsv': '',
  });
  assert.match(report, /carriers\.tsv: an empty file \(0 bytes\)\./);
  assert.match(
    report,
    /\*\*\n\nThis cannot be computed: claims\.csv and carriers\.tsv have no rows, so there are no figures, and nothing to join or compare\./,
  );
  assert.match(report, /With rows, it would come from amount_eur and carrier_id of claims\.csv\./);
  assert.match(report, /carriers\.tsv has no header either, so no common column for a join is known\./);
  assert.doesNotMatch(report, /no numeric column/);
});

test('a file with a header only is not compared with another one, whose columns are compared', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `R${i},${10 + i}`).join('\n');
  const report = await reportOn('How does this.csv compare with last.csv?', {
    'this.csv': 'id,fee,club\n',
    'last.csv': `id,fee\n${rows}\n`,
  });
  assert.match(report, /It cannot be compared with last\.csv, because it has no rows\. Their columns differ: only in this file: club\./);
});

test('a question that only an empty file could answer is not answered from another file', async () => {
  const rows = Array.from(
    { length: 12 },
    (_, i) => `V${i},${1 + (i % 5)},"The guide of group ${i} was ${i % 2 === 0 ? 'late' : 'friendly'}."`,
  );
  const { workspace } = await runAgent(
    'Read comments.csv and tell me what visitors say. The replies are in replies.csv; how many comments were answered?',
    {
      files: { 'comments.csv': `id,rating,comment\n${rows.join('\n')}\n`, 'replies.csv': '' },
    },
  );
  const report = workspace.text('report.md');
  assert.match(
    report,
    /\*\*Tell me what visitors say\.\*\*\n\n- comments\.csv: Complaints and wishes in comment by theme, .*\n- comments\.csv: Praise in comment by theme/,
  );
  assert.match(
    report,
    /How many comments were answered\?\*\*\n\nNo rule .*\. What needs the rows of replies\.csv cannot be said: it has none\.\n/,
  );
});

test('a question that compares with a file without rows is answered with that, not with the other file', async () => {
  const rows = Array.from(
    { length: 12 },
    (_, i) => `2025-04-${String(i + 1).padStart(2, '0')},${i % 2 === 0 ? 'Quay' : 'Mill'},${40 + i}`,
  ).join('\n');
  const report = await reportOn('Compare this.csv with last.csv: did we serve more or less? Which site served most?', {
    'this.csv': `date,site,meals\n${rows}\n`,
    'last.csv': 'date,site,meals\n',
  });
  assert.match(
    report,
    /more or less\?\*\*\n\nThis cannot be said: last\.csv has no rows, so there is nothing to compare the other file with\.\n/i,
  );
  assert.match(report, /Which site served most.*\*\*\n\n- this\.csv: By site, Mill has the largest meals/);
});
