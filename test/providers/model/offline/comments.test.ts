/** Comments of a survey: a name is no claim, and a machine is not the staff. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const comments = [
  'Sue in the shop is a gem',
  'the self service terminal never takes my coins',
  'Self-service tills broken again',
  'opening hours are useless for nurses',
  'shut at 3 on Tuesdays, why',
  'the pool is cold',
  'far too cold in the hall',
  'the bus never came, twice',
  'friendly staff',
  'rude staff at the door',
  'noise from the yard',
  'Mould in the showers, I will sue the club',
];
const rows = comments.map((comment, i) => `${i + 1},${[5, 2, 1, 2, 2, 2, 1, 2, 5, 1, 2, 1][i]},"${comment}"`);

test('a comment is counted under the thing that it complains of', async () => {
  const { workspace } = await runAgent('What do people complain about in survey.csv?', {
    files: { 'survey.csv': `id,rating,comment\n${rows.join('\n')}\n` },
  });
  const told = workspace.text('report.md');
  assert.match(told, /Complaint: machines and terminals in comment: 2 of 12/);
  assert.match(told, /Complaint: opening hours in comment: 2 of 12/);
  assert.doesNotMatch(told, /Claims[^\n]*Sue in the shop/);
  assert.match(told, /I will sue the club/);
  assert.doesNotMatch(told, /staff and service[^;]*self service terminal/);
});
