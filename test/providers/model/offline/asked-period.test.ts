/** The period that a task asks about, by its words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodIn } from '../../../../src/providers/model/offline/asked-period.ts';
import { runAgent } from './agent-loop.ts';

const period = (from: string, to: string) => ({ from_day: from, to_day: to });

const known: [task: string, ReturnType<typeof periodIn>][] = [
  ['What did we sell in the second quarter of 2025 (April to June)?', period('2025-04-01', '2025-06-30')],
  ['Wie viel war es im dritten Quartal 2024?', period('2024-07-01', '2024-09-30')],
  ['ventas de enero a marzo de 2024', period('2024-01-01', '2024-03-31')],
  ['le débit du 1 au 14 février 2025', period('2025-02-01', '2025-02-14')],
  ['See fuel.csv for May 2025: what did we spend in May?', period('2025-05-01', '2025-05-31')],
  ['Where do we stand in budget_2025.csv (January to May)?', period('2025-01-01', '2025-05-31')],
  ['How is the budget of 2024 at the end of April?', period('2024-01-01', '2024-04-30')],
  ['from November 2024 to February 2025', period('2024-11-01', '2025-02-28')],
  ['Compare March 2025 with April 2025.', {}],
  ['The list as of 20 May 2025', {}],
  ['What was sold in May?', {}],
  ['from 5 to 31 February 2025', {}],
];

test('a period in words of several languages is read, and none from a date, from two months or without a year', () => {
  for (const [task, expected] of known) assert.deepEqual(periodIn(task), expected, task);
});

test('few rows of another time than the task asks about are left out of the figures and named with their sums', async () => {
  const trips = Array.from({ length: 12 }, (_, i) => `t${i},2024-03-${10 + i},${i % 2 ? 'Ada' : 'Ben'},${10 + i}`);
  const { summary } = await runAgent('How many euros did we spend in March 2024, see trips.csv?', {
    files: { 'trips.csv': `trip,day,who,eur\n${trips.join('\n')}\nt12,2024-04-02,Ada,500\n` },
  });
  assert.match(summary, /The figures leave out 1 row with day outside of 2024-03-01 to 2024-03-31/);
  assert.match(
    summary,
    /day from 2024-03-01 to 2024-03-31: 12 rows; eur adds up to 186\. Not of this period: row 13 \(t12\) of 2024-04-02 with eur 500\./,
  );
});
