/** Figures by group, hour and day: spellings of one value are one group, and a missing cell counts in no mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupedFigureCode } from '../../../../src/providers/model/offline/grouped-figure-code.ts';
import { runAgent } from './agent-loop.ts';

async function reportOn(prompt: string, files: Record<string, string>): Promise<string> {
  return (await runAgent(prompt, { files })).workspace.text('report.md');
}

test('a mean by hour of the day leaves rows without a value out, and an hour without values has no mean', async () => {
  const rows = Array.from({ length: 24 }, (_, i) => {
    const hour = [8, 9, 9, 15][i % 4]!;
    const score = hour === 15 ? '' : hour === 9 && i % 4 === 1 ? '' : hour === 8 ? 2 + (i % 3) : 4 + 2 * ((i >> 2) % 2);
    return `2025-03-${String(1 + (i >> 2)).padStart(2, '0')} ${String(hour).padStart(2, '0')}:10,${score}`;
  });
  const report = await reportOn('When is the score lowest in scores.csv?', { 'scores.csv': `asked_at,score\n${rows.join('\n')}\n` });
  assert.match(report, /By hour of the day, mean score is highest from 09:00 \(5\) and lowest from 08:00 \(3\): 08:00 3, 09:00 5\./);
});

test('a day without a value is not told as 0, and a mean per weekday counts only days with a value', async () => {
  const rows = Array.from({ length: 56 }, (_, i) => {
    const day = new Date(Date.UTC(2025, 0, 6) + (i >> 1) * 86_400_000).toISOString().slice(0, 10);
    return `${day},${i % 2 === 0 ? 'in' : 'out'},${(i >> 1) % 14 === 0 ? '' : 10 + (i % 2) * 2}`;
  });
  const report = await reportOn('What do visitors.csv say by weekday?', { 'visitors.csv': `day,door,visitors\n${rows.join('\n')}\n` });
  assert.match(
    report,
    /Monday 8 rows \(4 days, visitors 44, 22 a day over 2 days with a value\); Tuesday 8 rows \(4 days, visitors 88, 22 a day\)/,
  );
});

const parcels = Array.from({ length: 24 }, (_, i) => {
  const carrier = i % 3 === 0 ? 'Post' : i === 4 ? 'quick' : i === 7 ? 'QUICK ' : 'Quick';
  const sent = `2025-04-${String(1 + (i >> 1)).padStart(2, '0')}`;
  const delivered = i % 8 === 1 ? '' : `2025-04-${String(3 + (i >> 1) + (i % 2)).padStart(2, '0')}`;
  return `P${100 + i},${sent},${delivered},${carrier},${i + 1},${(i + 1) * 3}`;
});

test('every finding by group takes spellings that differ in case or blanks together', async () => {
  const report = await reportOn('How long do parcels take by carrier, and what does a kg cost? See parcels.csv', {
    'parcels.csv': `parcel,sent,delivered,carrier,kg,cost_eur\n${parcels.join('\n')}\n`,
  });
  assert.match(
    report,
    /carrier writes the same value in several ways: 'Quick' ×14, 'QUICK' ×1, 'quick' ×1 .*; then there are 2 different values\./,
  );
  assert.match(report, /From sent to delivered it takes [^.]*.*by carrier, median \(mean\): .*Quick/);
  assert.match(report, /delivered is filled in 21 of 24 rows .*by carrier: .*Quick \d+ of 16/);
  const findings = report.slice(0, report.indexOf('## Figures of')).split('\n');
  for (const line of findings) if (!line.includes('in several ways')) assert.doesNotMatch(line, /\bquick\b|\bQUICK\b/);
});

test('rows that differ only in case are no exact duplicates', async () => {
  const rows = 'a1,North,10\na2,South,20\na3,north,30\na3,North,30\na4,South,40\na5,North,50\na6,South,60\na7,North,70\n';
  const report = await reportOn('What is in sales.csv?', { 'sales.csv': `id,area,amount\n${rows}` });
  assert.doesNotMatch(report, /exact duplicate/);
  assert.match(report, /area writes the same value in several ways/);
});

test('units that differ in case are not taken together, because case has a meaning in symbols', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `S${i % 3},${i % 2 === 0 ? 'mW' : 'MW'},${10 + i}`);
  const report = await reportOn('Add up power.csv', { 'power.csv': `site,unit,value\n${rows.join('\n')}\n` });
  assert.doesNotMatch(report, /together; then there are/);
  assert.match(report, /\bmW\b/);
});

test('the figure by group that is computed in the sandbox takes spellings together', () => {
  const code = groupedFigureCode({ path: 'a.csv', delimiter: ',', column: 'n', by: 'who', kind: 'median' });
  const run = new Function('readFile', 'console', `${code.replace(/figures;$/, 'return figures;')}`);
  const file = 'who,n\nAda,1\nada,3\nAda,5\nBen,2\nBEN ,4\nBen,9\n';
  assert.deepEqual(
    run(() => file, { log: () => {} }),
    [
      ['Ben', 4],
      ['Ada', 3],
    ],
  );
});

test('different dates are counted by the date, not by its spelling', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => {
    const day = String(13 + (i >> 1)).padStart(2, '0');
    return `${i % 2 === 0 ? `2025-01-${day}` : `${day}/01/2025`},${i}`;
  });
  const report = await reportOn('What is in log.csv?', { 'log.csv': `day,amount\n${rows.join('\n')}\n` });
  assert.match(report, /\| day \| date \| 0 \(0 %\) \| 6 \| 2025-01-13 to 2025-01-18 \|/);
});

test('times are shown in UTC only if the file gives their zone', async () => {
  const rows = (zone: string) => Array.from({ length: 8 }, (_, i) => `2025-01-0${1 + i}T08:30:00${zone},${i}`).join('\n');
  const local = await reportOn('What is in log.csv?', { 'log.csv': `at,amount\n${rows('')}\n` });
  assert.match(local, /2025-01-01T08:30:00 to 2025-01-08T08:30:00 \|/);
  const utc = await reportOn('What is in log.csv?', { 'log.csv': `at,amount\n${rows('Z')}\n` });
  assert.match(utc, /2025-01-01T08:30:00Z to 2025-01-08T08:30:00Z/);
  const eastern = await reportOn('What is in log.csv?', { 'log.csv': `at,amount\n${rows('+02:00')}\n` });
  assert.match(eastern, /2025-01-01T08:30:00 to 2025-01-08T08:30:00 \|/);
});

test('a long list of keys under a budget ends with the number of the keys that are not named', async () => {
  const names = Array.from({ length: 15 }, (_, i) => `Item ${String.fromCharCode(65 + i)}`);
  const report = await reportOn('Compare spent.csv with budget.csv: what is over or under budget?', {
    'budget.csv': `item,budget\n${names.map((name, i) => `${name},${1000 + i}`).join('\n')}\n`,
    'spent.csv': `item,spent\n${names.map((name, i) => `${name},${400 - i}`).join('\n')}\n`,
  });
  assert.match(report, /spent is below budget for 15 keys, .* and 3 more\./);
  assert.doesNotMatch(report, /more and more/);
});

test('steps between periods that are two days apart are not called steps between neighbouring periods', async () => {
  const rows = [1, 3, 5, 7, 8, 11, 13, 15].map((day, i) => `2025-02-${String(day).padStart(2, '0')},${100 + ((i * 37) % 50)}`);
  const report = await reportOn('How do takings develop in till.csv?', {
    'till.csv': `day,takings\n${[...rows, ...rows.map((row) => row.replace(/\d+$/, '20'))].join('\n')}\n`,
  });
  assert.match(report, /Between periods that are 2 days apart the largest rise is/);
  assert.doesNotMatch(report, /neighbouring/);
});
