/** Dates with the name of the month, in several languages. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { parseDate } from '../../../src/providers/table/date-format.ts';
import { profileTable } from '../../../src/providers/table/profile.ts';

const isoOf = (text: string) => {
  const date = parseDate(text, 'day_first');
  return date === null ? null : new Date(date.ms).toISOString().slice(0, 10);
};

test('a day, the name of a month in several languages and a year are a date', () => {
  assert.equal(isoOf('5 juin 2024'), '2024-06-05');
  assert.equal(isoOf('1er août 2024'), '2024-08-01');
  assert.equal(isoOf('12 de setiembre de 2023'), '2023-09-12');
  assert.equal(isoOf('lunedì 3 febbraio 2025'), '2025-02-03');
  assert.equal(isoOf('07 mrt 2025'), '2025-03-07');
  assert.equal(isoOf('12. März 2025'), '2025-03-12');
  assert.equal(isoOf('31 juin 2024'), null);
  assert.equal(isoOf('5 pommes 2024'), null);
});

test('dates in words among dates in figures count in the months and leave no gap', async () => {
  const days = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2024, 5, 1 + i)).toISOString().slice(0, 10));
  const rows = days.map(
    (day, i) => `${i % 9 === 4 ? `${Number(day.slice(8))} ${day.startsWith('2024-06') ? 'juin' : 'juillet'} 2024` : day};10`,
  );
  const profile = await profileTable(async () => Readable.from([Buffer.from(`jour;recette\n${rows.join('\n')}\n`)]), 'table.csv');
  assert.deepEqual(profile.columns[0]!.dates, { first: '2024-06-01', last: '2024-07-10', count: 40 });
  assert.equal(profile.columns[0]!.left_out, undefined);
  assert.ok(!profile.remarks.some(({ kind }) => kind === 'gaps'));
});
