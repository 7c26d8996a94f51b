/** Counters are compared, not added up; set points and timetables are compared with what came of them; events count, not bookings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { column, opening, profileText } from './tables.ts';

const days = ['2031-01-31', '2031-02-28', '2031-03-31', '2031-04-30', '2031-05-31'];
const remarks = (profile: { remarks: readonly { text: string }[] }) => profile.remarks.map(({ text }) => text).join('\n');

/** A well's meter: rises by `step` each month from `first` on. */
function wells(changed: Record<string, string> = {}): string {
  const names = ['W1', 'W2', 'W3', 'W4', 'W5', 'W6'];
  const rows = names.flatMap((well, i) =>
    days.map((day, at) => `${well},${day},${changed[`${well} ${day}`] ?? 4000 + i * 900 + at * (30 + i)}`),
  );
  return ['well,read_on,reading', ...rows.filter((row) => !row.endsWith(',-'))].join('\n');
}

test('a counter by key is told as differences, and has no mean, sum or ranking', async () => {
  const profile = await profileText(wells());
  assert.equal(column(profile, 'reading').role, 'counter');
  assert.equal(column(profile, 'reading').numbers, undefined);
  assert.match(remarks(profile), /reading is a counter of each well.*W1 120, W2 124, .*together 780\. The largest is that of W6 \(140\)/);
});

test('a reading that falls or jumps is told with the only value of the same digits that fits, and is left out of the difference', async () => {
  const profile = await profileText(wells({ 'W2 2031-03-31': '9462', 'W3 2031-05-31': '59280', 'W4 2031-02-28': '67330' }));
  const said = remarks(profile);
  assert.match(said, /9,462 of well W2 in row \d+ \(2031-03-31\), with 4,931 before it and 4,993 after it(?:;|\.| and)/);
  assert.match(said, /59,280 of well W3 in row \d+ \(2031-05-31\), with 5,896 before it; probably 5,928/);
  assert.match(said, /67,330 of well W4 in row \d+ .*; probably 6,733/);
  assert.match(said, /W3 96 \(2031-01-31 to 2031-04-30\)/);
});

test('a key without a reading on a day that most keys have is named', async () => {
  assert.match(remarks(await profileText(wells({ 'W5 2031-05-31': '-' }))), /No reading on a common read_on for well W5 2031-05-31/);
});

test('a first column that counts up with the rows is an identifier, even with repeats, gaps and one number far off', async () => {
  const numbers = [...Array.from({ length: 40 }, (_, i) => 7100 + i + (i > 20 ? 2 : 0)), 7100 + 41, 9900];
  const profile = await profileText(['docket,crates', ...numbers.map((number, i) => `${number},${(i * 5) % 17}`)].join('\n'));
  assert.equal(column(profile, 'docket').role, 'identifier');
  assert.equal(column(profile, 'docket').numbers, undefined);
});

test('figures over time rest on the date of the event, not on that of the booking', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const on = (offset: number) => new Date(Date.UTC(2031, 2, 1) + (i + offset) * 86_400_000).toISOString().slice(0, 10);
    return `T${i},${on(-((i * 7) % 30))},${on(0)},${10 + (i % 6)}`;
  });
  const profile = await profileText(['tour,booked,date,guests', ...rows].join('\n'));
  assert.equal(profile.trend!.date_column, 'date');
  assert.doesNotMatch(remarks(profile), /booked goes on day by day/);
  assert.match(remarks(profile), /By day of the week of date:/);
});

test('a measured value is compared with its set point by group, with and without the farthest rows', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => {
    const kiln = ['K1', 'K2'][i % 2]!;
    const set = kiln === 'K1' ? 80 : 95;
    return `${kiln},${set},${i === 9 ? 140 : kiln === 'K1' ? 80.5 : 96}`;
  });
  const said = remarks(await profileText(['kiln,soll °C,kiln °C', ...rows].join('\n')));
  assert.match(said, /kiln °C less soll °C is .* By kiln: K2 \+3\.20 \(20 rows, at most \+45, \+1 without the largest\), K1 \+0\.5/);
});

const log = `day,trip,actual,remark
2031-05-05,101,07:02,
2031-05-05,102,08.19,tree on line
2031-05-05,103,5:40 pm,
2031-05-06,101,07:01,
2031-05-06,102,08:21,tree on line
2031-05-06,103,17:41,
2031-05-07,101,27:00,
2031-05-07,102,cancelled,storm
2031-05-07,103,17:39,
2031-05-08,101,07:00,
2031-05-08,102,08:01,
2031-05-08,103,17:40,
2031-05-09,101,07:03,
2031-05-09,102,08:09,queue
2031-05-09,103,17:50,queue
2031-05-09,103,17:50,queue
`;
const plan = 'trip,line,departs\n101,Upper,07:00\n102,Lower,08:00\n103,Upper,17:40\n104,Lower,21:00\n';

test('actual times are compared with the timetable of the other file by line and trip, in any notation, each repeated row once', async () => {
  const side = (name: string, text: string) => ({ name, open: opening(Buffer.from(text)) });
  const { key, remarks: found } = await joinTables(side('plan.csv', plan), side('log.csv', log));
  assert.deepEqual(key, { left: 'trip', right: 'trip' });
  const late = found.find(({ kind }) => kind === 'join_late')!.text;
  assert.match(late, /more than 5 minutes late: 4 of 13 \(30\.8 %\), so 69\.2 % are not/);
  assert.match(late, /By line: Lower 3 of 4 \(75 %\), Upper 1 of 9 \(11\.1 %\)\./);
  assert.match(late, /remark of the late rows: (?:tree on line 2, queue 2|queue 2, tree on line 2)\./);
  assert.match(late, /in place of a time stands 27:00 and cancelled/);
});
