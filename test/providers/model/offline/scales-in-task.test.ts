/** Scales of columns: those of the task, and those that only the values show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scalesIn } from '../../../../src/providers/model/offline/scales-in-task.ts';
import { profileTable } from '../../../../src/providers/table/profile.ts';
import { opening } from '../../table/tables.ts';

test('a scale whose ends have meanings is read from the task', () => {
  const scale = [{ column: 'score', low: 0, high: 10 }];
  for (const task of [
    'survey.jsonl has the answers (score from 0 = very bad to 10 = very good, plus a comment).',
    'The score (0 to 10) is the first column.',
    'The score is given from 0 (not at all likely) to 10 (very likely).',
  ])
    assert.deepEqual(
      scalesIn(task).scales?.filter(({ column }) => column === 'score'),
      scale,
      task,
    );
  assert.deepEqual(scalesIn('Show the sales of shop 1 = Lund and of the shops 2 to 10.'), {});
});

test('a zero on a scale of the task from 0 is no value off the scale, nor is it one on a scale to 10 that nobody gave', async () => {
  const open = opening(
    Buffer.from(`id,score\n${Array.from({ length: 40 }, (_, i) => `p${i},${i === 9 ? 0 : 1 + (i % 10)}`).join('\n')}\n`),
  );
  for (const scales of [[{ column: 'score', low: 0, high: 10 }], []]) {
    const { basis, remarks } = await profileTable(open, 'survey.csv', undefined, { scales });
    assert.equal(basis, undefined);
    assert.ok(!remarks.some(({ kind }) => kind === 'out_of_range'));
  }
});
