/** Months, weeks and quarters as texts are ordered in time and compared from first to last; an unknown order is stated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableProfile } from '../../../src/providers/table/table-profile.ts';
import { profileText } from './tables.ts';

const said = ({ remarks }: TableProfile) => remarks.map(({ text }) => text).join('\n');
const rows = (head: string, periods: readonly string[], figures: Record<string, readonly number[]>) =>
  `${head}\n${periods.flatMap((period, i) => Object.entries(figures).map(([group, own]) => `${period},${group},${own[i]}`)).join('\n')}\n`;

test('months by their German names are in calendar order, in total and by group', async () => {
  const text = said(
    await profileText(rows('Monat,Filiale,Umsatz', ['April', 'Januar', 'Mai', 'März'], { Ost: [40, 10, 50, 30], West: [60, 90, 30, 70] })),
  );
  assert.match(text, /^Umsatz, from Januar to Mai \(Monat\): −20 \(100 to 80, −20 %\)/m);
  assert.match(text, /In order of time: Januar 100, März 100, April 100, Mai 80\./);
  assert.match(text, /Umsatz by Filiale, from Januar to Mai \(Monat\): Ost \+40 \(10 to 50, \+400 %\); West −60 \(90 to 30, −66\.7 %\)\./);
});

test('weeks of ISO 8601 go on over the turn of the year', async () => {
  const text = said(
    await profileText(rows('week,shop,orders', ['2024-W51', '2024-W52', '2025-W01', '2025-W02'], { A: [5, 6, 7, 8], B: [9, 8, 7, 6] })),
  );
  assert.match(text, /orders by shop, from 2024-W51 to 2025-W02 \(week\): A \+3 \(5 to 8, \+60 %\); B −3 \(9 to 6, −33\.3 %\)/);
  assert.match(text, /orders by shop and week: A: 2024-W51 5, 2024-W52 6/);
});

test('week 9 comes before week 10', async () => {
  const text = said(await profileText(rows('KW,Linie,Menge', ['KW 10', 'KW 11', 'KW 8', 'KW 9'], { A: [3, 4, 1, 2], B: [3, 3, 3, 3] })));
  assert.match(text, /In order of time: KW 8 4, KW 9 5, KW 10 6, KW 11 7\./);
});

test('quarters and months without a year take the year of another column', async () => {
  const head = 'year,quarter,units_sold';
  const text = said(await profileText(`${head}\n2023,Q2,12\n2023,Q3,14\n2023,Q4,11\n2024,Q1,18\n2024,Q2,24\n`));
  assert.match(text, /units_sold, from 2023 Q2 to 2024 Q2 \(quarter\): \+12 \(12 to 24, \+100 %\)/);
});

test('months without a year over the end of a year have no first and last, which is stated', async () => {
  const text = said(await profileText(rows('month,site,visits', ['Oct', 'Nov', 'Dec', 'Jan'], { A: [1, 2, 3, 4], B: [2, 2, 2, 9] })));
  assert.match(
    text,
    /month has months without a year, and its rows go from Oct over the end of a year to Jan; .* is unknown, so no change/,
  );
  assert.doesNotMatch(text, /from Jan to Dec|from Oct to Jan \(/);
});

test('a column with another value than months, and the names of three persons, are no periods', async () => {
  for (const table of [
    rows('month,site,visits', ['Jan', 'Feb', 'Mar', 'unknown'], { A: [1, 2, 3, 4], B: [2, 2, 2, 9] }),
    rows('name,site,visits', ['April', 'May', 'June'], { A: [1, 2, 3], B: [2, 2, 9] }),
  ])
    assert.doesNotMatch(said(await profileText(table)), /In order of time|, from (?:Jan|April) to/);
});

test('months with a year and quarters with a year are dates', async () => {
  for (const periods of [
    ['Jan 2024', 'Feb 2024', 'Mar 2024', 'Apr 2024'],
    ['2024-Q1', '2024-Q2', '2024-Q3', '2024-Q4'],
    ['Q1 2024', 'Q2 2024', 'Q3 2024', 'Q4 2024'],
  ]) {
    const profile = await profileText(rows('period,site,visits', periods, { A: [1, 2, 3, 4], B: [2, 2, 2, 9] }));
    assert.equal(profile.columns[0]!.type, 'date');
    assert.match(said(profile), /visits by site, from 2024-01 to 2024-(?:04|10) \(period\): B \+7 \(2 to 9, \+350 %\)/);
  }
});
