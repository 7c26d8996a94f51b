/** Queries over the rows of a table: values of rows, groups, conditions, limits and what is not counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '../../../../src/providers/table/queries/query.ts';
import queryJob from '../../../../src/providers/table/queries/query-job.ts';
import { opening } from '../tables.ts';

async function answered(text: string, query: Query): Promise<string[]> {
  const { queried } = await queryJob({ name: 'table.csv', queries: [query] }, {
    open: opening(Buffer.from(text)),
    signal: new AbortController().signal,
  } as Parameters<typeof queryJob>[1]);
  return queried[0]!.lines;
}

const shifts = 'crew,begin,end\nA,22:00,06:30\nA,07:00,20:15\nB,08:00,12:00\nB,,12:00\n';

test('a shift that ends before it begins ends on the next day, and a row without a time is named as not counted', async () => {
  const lines = await answered(shifts, {
    value: { kind: 'difference', of: 'end', less: 'begin' },
    figure: 'sum',
    by: [[{ column: 'crew' }]],
    unit: 'hours',
  });
  assert.match(lines[0]!, /A 21\.75 \(2 rows, mean 10\.88\), few rows, B 4 \(1 row, mean 4\)/);
  assert.match(lines.at(-1)!, /Not counted: 1 row without end or begin: row 4/);
});

test('a planned and an actual time of day are the nearer way apart, over midnight too', async () => {
  const lines = await answered('bus,planned,actual\n1,23:55,00:10\n2,00:05,23:58\n3,08:00,08:04\n', {
    value: { kind: 'difference', of: 'actual', less: 'planned' },
    figure: 'rows',
    top: 1,
  });
  assert.match(lines[0]!, /Largest actual − planned in minutes: row 1 [^\n]*15; the smallest is row 2 [^\n]*-7 \(3 rows, mean 4\)/);
});

test('a limit in hours is compared with a column in minutes as minutes, and one without a common unit is not compared', async () => {
  const text = 'job,wait_min\na,30\nb,90\nc,121\nd,300\n';
  const value = { kind: 'column', of: 'wait_min' } as const;
  const lines = await answered(text, { value, figure: 'share', limit: { than: 'over', amount: 2, unit: 'hours' } });
  assert.equal(lines[0], 'Share of rows in which wait_min is over 2 hours (120 minutes): 2 of 4 (50 %).');
  assert.deepEqual(
    await answered('job,weight\na,3\nb,9\n', {
      value: { kind: 'column', of: 'weight' },
      figure: 'share',
      limit: { than: 'over', amount: 2, unit: 'hours' },
    }),
    [],
  );
});

test('calendar weeks begin on Monday and belong to the year of their Thursday', async () => {
  const lines = await answered('day,n\n2026-12-31,1\n2027-01-03,2\n2027-01-04,4\n', {
    value: { kind: 'column', of: 'n' },
    figure: 'sum',
    by: [[{ column: 'day', part: 'week' }]],
  });
  assert.match(lines[0]!, /2026-W53 3 \(2 rows, mean 1\.50\), few rows, 2027-W01 4/);
});

test('a query on columns that the table has not is not answered', async () => {
  const value = { kind: 'difference', of: 'end', less: 'start' } as const;
  assert.deepEqual(await answered(shifts, { value, figure: 'mean' }), []);
  assert.deepEqual(await answered(shifts, { value: { kind: 'row' }, figure: 'sum', by: [[{ column: 'depot' }]] }), []);
});

test('hostile values and many groups give sentences of bounded length', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `${'x'.repeat(500)}${i % 900},${i}`).join('\n');
  const lines = await answered(`name,n\n${rows}\n`, { value: { kind: 'column', of: 'n' }, figure: 'mean', by: [[{ column: 'name' }]] });
  assert.ok(
    lines.every((line) => line.length <= 6000),
    'no sentence is longer than its bound',
  );
  assert.match(lines[0]!, /more groups?\./);
});
