/** Figures that a task asks for in words: a division of columns, a net promoter score, a cause, a comparison that rests on few rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ratioIn } from '../../../../src/providers/model/offline/ratios.ts';
import { promotersIn } from '../../../../src/providers/model/offline/scales-in-task.ts';
import type { TableProfile } from '../../../../src/providers/table/table-profile.ts';
import { profileText } from '../../table/tables.ts';
import { runAgent } from './agent-loop.ts';

const profileOf = (columns: string): Promise<TableProfile> =>
  profileText(
    `${columns}\n${Array.from({ length: 9 }, (_, i) =>
      columns
        .split(',')
        .map((_, j) => `${10 + i + j}.${i}`)
        .join(','),
    ).join('\n')}\n`,
  );

test('a division names its columns by the words around it, of one table or of two', async () => {
  const bakery = [await profileOf('Geliefert_Stk,Retoure_Stk,Umsatz')];
  assert.deepEqual(ratioIn('Where is the return rate (returned pieces divided by delivered pieces) worst?', bakery), {
    of: 'Retoure_Stk',
    per: 'Geliefert_Stk',
  });
  const cars = [await profileOf('Tank (l),km in May'), await profileOf('litres,amount')];
  assert.deepEqual(ratioIn('fuel per 100 km (litres bought in May divided by the km in May)', cars), {
    of: 'litres',
    per: 'km in May',
    times: 100,
  });
  assert.equal(ratioIn('pieces divided by pieces', bakery), null);
});

test('the promoters of answers from 0 to 10 are counted if the task asks for their score', () => {
  assert.deepEqual(promotersIn('The score is 0 to 10; what is the NPS?'), { promoters_of: ['score'] });
  assert.deepEqual(promotersIn('The score is 0 to 10; what is the mean?'), {});
  assert.deepEqual(promotersIn('The score is 1 to 5; what is the NPS?'), {});
});

test('a mean of few rows is no safe comparison, and a short question asks about the clause before it', async () => {
  const rows = Array.from(
    { length: 44 },
    (_, i) =>
      `a${i},${i < 4 ? 'Annex' : i % 2 ? 'North' : 'South'},${i < 4 ? 9 : 5 + (i % 3)},2024-01-${String((i % 28) + 1).padStart(2, '0')}`,
  );
  const { summary } = await runAgent('I want to say that Annex has the best score in answers.csv, can I? And what caused it?', {
    files: { 'answers.csv': `id,site,score,day\n${rows.join('\n')}\n` },
  });
  assert.match(
    summary,
    /I want to say that Annex has the best score .*can I\?: By site, Annex has the largest mean score: 9; .*Annex rests on only 4 rows, too few for a safe comparison/,
  );
  assert.match(summary, /As to why: the cause cannot be told from the file, which has no data on causes, only id, site, score, day\./);
});
