/** A ranking that one impossible value carries is told with and without it; one or two rows and other spellings are never ranked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

async function reportOf(file: string, rows: readonly string[]): Promise<string> {
  const { workspace } = await runAgent(`Summarise ${file}.`, { files: { [file]: rows.join('\n') } });
  return workspace.text('report.md');
}

/** Sales of a nursery over twenty days; row 23 has a price without its decimal mark. */
function sales(): string[] {
  const rows = Array.from({ length: 80 }, (_, i) => {
    const day = `${String((i % 20) + 1).padStart(2, '0')}/09/2031`;
    const plant = ['Fern', 'Moss', 'Sedge'][i % 3]!;
    return `${day},${plant},${['B1', 'B2'][i % 2]},${i === 22 ? 24000 : 20 + (i % 9) + (i % 2 === 0 ? 4 : 0)}`;
  });
  return ['day,plant,bed,amount', ...rows];
}

test('the leading group is told without the value that carries it, whether it then leads or not', async () => {
  const report = await reportOf('sales.csv', sales());
  assert.match(report, /By plant, Moss has the largest amount: .* Without row 23 \(24,000\), (?:Fern|Sedge) leads:/);
  assert.match(report, /By bed, B1 has the largest amount: .* Without row 23 \(24,000\), B1 still leads, with 1,\d{3}\./);
});

test('the highest period, its rise and its weekday are told without the value that carries them, in any notation of dates', async () => {
  const report = await reportOf('sales.csv', sales());
  assert.match(report, /amount was highest in 2031-09-03 .* Without row 23 \(24,000\), 2031-09-03 would have/);
  assert.match(report, /the largest rise is from 2031-09-02 .* Without row 23 \(24,000\), 2031-09-03 would have/);
  assert.match(report, /Wednesday \d+ rows \(\d days, amount 24,289, [\d.,]+ a day, 289 without row 23\)/);
});

test('the smallest group is none of one or two rows, and none that may be another in another spelling', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => `${['Oak', 'Elm wood', 'Ash'][i % 3]},${10 + (i % 7)}`);
  const report = await reportOf('logs.csv', ['timber,load', ...rows, 'Larch,1', 'Elm,2', 'Elm,3', 'Elm,2', 'Elm,4']);
  assert.match(report, /By timber, Oak has the largest mean load: 12\.95; Ash has the smallest: 12\.85/);
  assert.match(report, /Not ranked, because of one or two rows: Larch\. Elm may be Elm wood and is not ranked\./);
});

test('ratings by the scale in their name are averaged and never added up', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${['North pool', 'South pool'][i % 2]},${(i % 5) + 1},${((i * 3) % 5) + 1}`);
  const report = await reportOf('pools.csv', ['pool,water_1to5,staff_1to5', ...rows]);
  assert.doesNotMatch(report, /adds up to/);
  assert.match(report, /water_1to5 goes from 1 to 5/);
});
