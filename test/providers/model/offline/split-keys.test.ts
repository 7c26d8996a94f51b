/** A key in several spellings: figures by group are those of the joined files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

test('a file that writes one key in several ways is not grouped by it alone, but by the joined key', async () => {
  const stays = ['AB-12,20', 'AB12,30', 'CD-34,25', 'CD-34,17', 'EF-56,45', 'EF-56,1'];
  const { workspace } = await runAgent('Compare rooms.csv with stays.csv: which room brought in most?', {
    files: {
      'rooms.csv': 'room,floor\nAB-12,1\nCD-34,1\nEF-56,2\n',
      'stays.csv': `no,room,amount\n${stays.map((each, i) => `S${i},${each}`).join('\n')}\n`,
    },
  });
  const report = workspace.text('report.md');
  assert.match(
    report,
    /amount by room of stays\.csv, spellings of one key taken together: AB-12 50 \(2 rows\), EF-56 46 \(2 rows\) and CD-34 42 \(2 rows\)\./,
  );
  assert.doesNotMatch(report, /By room, EF-56 has the largest amount/);
});
