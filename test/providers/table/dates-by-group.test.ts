/** Shares on time, open rows and durations by group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

async function textsOf(text: string, kind: RegExp): Promise<string[]> {
  const { remarks } = await profileText(text);
  return remarks.filter((remark) => kind.test(remark.kind)).map((remark) => remark.text);
}

const loans = `Nr;Leser;Zweigstelle;ausgeliehen;fällig;zurückgegeben
1;Arndt;Nord;01.03.2025;15.03.2025;14.03.2025
2;Bohm;Nord;02.03.2025;16.03.2025;20.03.2025
3;Celik;Süd;02.03.2025;16.03.2025;16.03.2025
4;Dorn;Süd;03.03.2025;17.03.2025;
5;Ernst;Nord;04.03.2025;18.03.2025;18.03.2025
6;Fink;Süd;05.03.2025;19.03.2025;29.03.2025
7;Groß;Nord;06.03.2025;20.03.2025;01.03.2025
8;Haas;Süd;07.03.2025;21.03.2025;20.03.2025
9;Ihle;Nord;08.03.2025;22.03.2025;
10;Jung;Nord;09.03.2025;23.03.2025;20.03.2025
11;Kurz;Süd;10.03.2025;24.03.2025;30.03.2025
11;Kurz;Süd;10.03.2025;24.03.2025;30.03.2025
`;

test('the share on time is of the rows with both dates, once each, without impossible dates, by group', async () => {
  assert.deepEqual(await textsOf(loans, /^on_time$/), [
    'On time (zurückgegeben not after the day of fällig): 5 of 8 (62.5 %) rows with both dates. By Zweigstelle: Nord 3 of 4 (75 %, too few rows to compare), Süd 2 of 4 (50 %, too few rows to compare). Not in these shares: row 7 (Groß) with zurückgegeben before ausgeliehen (with it Nord 4 of 5 (80 %)) and 2 rows without zurückgegeben.',
  ]);
  assert.equal(
    (await textsOf(loans, /^late$/))[0],
    'Late rows (zurückgegeben after fällig) are late on average by 6.67 days (3 rows, at most 10); by Zweigstelle: Süd 8 days (2 rows, at most 10), Nord 4 days (1 row, at most 4).',
  );
});

test('rows without an end are counted by group and named', async () => {
  assert.equal((await textsOf(loans, /^open$/))[0], 'Without zurückgegeben: 2 rows. By Zweigstelle: Süd 1 (Dorn), Nord 1 (Ihle).');
});

test('durations have a median by group in one unit, and the mean without the longest', async () => {
  const repairs = [3, 4, 5, 6, 300].map((hours, i) => ({ hours, bench: 'A', id: i }));
  const others = [10, 12, 14, 16].map((hours, i) => ({ hours, bench: 'B', id: 5 + i }));
  const stamp = (hours: number) => new Date(Date.UTC(2025, 2, 1, hours)).toISOString().slice(0, 16);
  const rows = [...repairs, ...others].map(({ hours, bench, id }) => `R-${id},${bench},${stamp(0)},${stamp(hours)}`);
  assert.deepEqual(await textsOf(`job,bench,opened,closed\n${rows.join('\n')}\n`, /^span$/), [
    'From opened to closed it takes 41.11 hours on average (3 hours to 12.50 days, 9 rows; median 10 hours); by bench, median (mean): B 13 hours (13 hours, 4 rows), A 5 hours (63.60 hours, 5 rows).',
    'The longest from opened to closed is row 5 (R-4) with 300 hours; without it the mean is 8.75 hours instead of 41.11 hours, for bench A 4.50 hours instead of 63.60 hours.',
  ]);
});
