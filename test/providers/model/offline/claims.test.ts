/** Shares of an unwanted outcome by category and period; a claim is answered by figures that compare, or told as not answered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const answersOf = (report: string) => report.slice(report.indexOf('## What was asked'), report.indexOf('## What stands out'));

/** Boat lessons of eight weeks on Tuesdays and Thursdays; beginners stay away more often. */
function lessons(): string {
  const rows = Array.from({ length: 64 }, (_, i) => {
    const day = new Date(Date.UTC(2031, 3, 1 + Math.floor(i / 8) * 7 + (i % 2) * 2));
    const level = i % 4 === 0 ? 'beginner' : 'advanced';
    const status = i % 16 === 0 ? 'Cancelled' : i % 12 === 0 ? 'DNA' : i % 8 === 4 ? 'No-show' : i % 5 === 0 ? 'ATT' : 'Attended';
    return `${4100 + i},${day.toISOString().slice(0, 10)},${i % 3 === 0 ? '15:00' : '09:30'},${level},${status},30`;
  });
  return ['slip,date,time,level,status,fee', ...rows].join('\n');
}

test('the share of a missed outcome is told by category, weekday and half of the day, over merged spellings and without cancelled rows', async () => {
  const { workspace } = await runAgent('Summarise lessons.csv.', { files: { 'lessons.csv': lessons() } });
  const report = workspace.text('report.md');
  assert.match(report, /status is No-show in 9 of 60 \(15 %\) of the rows that count and have one/);
  assert.match(report, /Share of No-show by level: beginner 9 of 12 \(75 %\), advanced 0 of 48 \(0 %\)\./);
  assert.match(report, /Share of No-show by weekday of date: Tuesday 9 of 28 \(32\.1 %\), Thursday 0 of 32 \(0 %\)\./);
  assert.match(report, /Share of No-show by weekday of date and half of the day: Tuesday afternoon/);
});

test('whether people are right is not answered by the quality of the data, but by the shares of what they claim', async () => {
  const task = 'The coach says nobody turns up on Tuesday afternoons. Is she right? See lessons.csv.';
  const { workspace } = await runAgent(task, { files: { 'lessons.csv': lessons() } });
  const asked = answersOf(workspace.text('report.md'));
  assert.match(
    asked,
    /\*\*Is she right\?\*\*\n\n- Not answered: no rule compares what is claimed with the figures; these findings are nearest to it\.\n- status is No-show/,
  );
  assert.match(asked, /Share of No-show by weekday of date:/);
  assert.doesNotMatch(asked, /Only with care/);
});

test('a question on the data itself is still answered by what questions the data', async () => {
  const { workspace } = await runAgent('Are the figures in lessons.csv right?', {
    files: { 'lessons.csv': `${lessons()}\n4163,2031-05-22,09:30,advanced,ATT,30000` },
  });
  assert.match(answersOf(workspace.text('report.md')), /Only with care/);
});

test('a question for causes names the column of remarks, and does not say that there is none', async () => {
  const rows = Array.from(
    { length: 30 },
    (_, i) => `2031-06-${String(i + 1).padStart(2, '0')},${['Weir', 'Lock'][i % 2]},${20 + (i % 7)},${i % 5 === 0 ? 'pump off' : ''}`,
  );
  const { workspace } = await runAgent('Why was the flow low in flow.csv?', {
    files: { 'flow.csv': `date,site,flow,remark\n${rows.join('\n')}` },
  });
  const asked = answersOf(workspace.text('report.md'));
  assert.match(asked, /no column is called a cause, but remark \(most often pump off 6\) may tell some/);
  assert.doesNotMatch(asked, /no data on causes/);
});

test('a question on it is on what the question before it asks, and no other measure answers it', async () => {
  const task = 'Which level has the most no-shows in lessons.csv? Is it worse on Thursdays?';
  const { workspace } = await runAgent(task, { files: { 'lessons.csv': lessons() } });
  const asked = answersOf(workspace.text('report.md'));
  assert.match(asked, /most no-shows in lessons\.csv\?\*\*\n\n- (?:status is No-show|Share of)/);
  assert.doesNotMatch(asked, /has the largest fee|Answered above/);
});
