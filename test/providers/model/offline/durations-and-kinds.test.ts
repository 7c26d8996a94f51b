/** Durations as quantities, numbers that are kinds, and flags crossed with the other file; the figures are computed by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

async function reportOf(prompt: string, files: Record<string, string>): Promise<string> {
  const { workspace } = await runAgent(prompt, { files });
  return workspace.text('report.md').replace(/\\([|<>[\]`*])/g, '$1');
}

const times = ['0:18:42', '0:19:00', '0:25:00', '0:31:18', '0:41:29', '0:50:00', '1:02:01', '1:05:30'];
const results = times.map((time, i) => `${String(i + 1).padStart(2, '0')},${i < 4 ? 5 : 10},${time}`);
const names = ['Ana Roe', 'Bo Lind', 'Cy Ng', 'Di Fox', 'Ed Orr', 'Flo Katz', 'Gus Ito', 'Hal May', 'Ivy Poe', 'Jo Dahl'];
const runners = names.map((name, i) => `${String(i + 1).padStart(2, '0')},${name},${i < 4 ? 5 : 10},${i === 1 || i === 8 ? 'no' : 'yes'}`);
const race = {
  'runners.csv': `bib,name,distance,paid\n${runners.join('\n')}\n`,
  'results.csv': `bib,distance,finish_time\n${results.join('\n')}\n`,
};

test('the fastest of each distance are told with their names and times, and the mean time of each', async () => {
  const report = await reportOf('Who was fastest on each distance in runners.csv and results.csv?', race);
  const [, answer] = report.split('## What was asked');
  assert.match(
    answer!,
    /finish_time by distance, with names from runners\.csv: distance 5: shortest 0:18:42 of 01 \(Ana Roe\), longest 0:31:18 of 04/,
  );
  assert.match(answer!, /distance 10: shortest 0:41:29 of 05 \(Ed Orr\), longest 1:05:30 of 08 \(Hal May\)/);
  assert.match(report, /5 mean 0:23:30 over 4 rows, from 0:18:42 in row 1/);
  assert.match(report, /finish_time: over 8 rows; longest 1:05:30 in row 8 \(08\), shortest 0:18:42 in row 1 \(01\)/);
  assert.doesNotMatch(report, /distance adds up|largest distance|finish_time: mean/);
});

test('who is in the one file but not in the other is answered, and the answers of a flag are crossed with it', async () => {
  const report = await reportOf('Who is in [runners.csv] but not in [results.csv]?', race);
  assert.match(report, /\*\*Who is in [^\n]*\n\n- Only in runners\.csv, not in results\.csv: 2 keys \(09 \(Ivy Poe\) and 10 \(Jo Dahl\)\)/);
  assert.match(report, /Of runners\.csv, in results\.csv: 7 of 8 keys with paid yes and 1 of 2 keys with paid no\./);
});

test('durations are shown in the form of their column, and times of day are none', async () => {
  const laps = ['12:05', '11:58', '12:30', '59:10', '25:01', '13:06'].map((lap, i) => `${'ABC'[i % 3]},${lap}`);
  const report = await reportOf('Analyse laps.csv', { 'laps.csv': `driver,lap_time\n${laps.join('\n')}\n` });
  assert.match(report, /lap_time: mean 22:18, median 12:48 over 6 rows; longest 59:10 in row 4 \(A\), shortest 11:58 in row 2 \(B\)/);
  const calls = Array.from({ length: 24 }, (_, hour) => `C${hour},${String(hour).padStart(2, '0')}:15`);
  const log = await reportOf('Analyse calls.csv', { 'calls.csv': `call,time\n${calls.join('\n')}\n` });
  assert.doesNotMatch(log, /time adds up|time: mean/);
});

test('events that fall on days by chance miss no day, and a value that is called none is quoted', async () => {
  const days = Array.from({ length: 40 }, (_, day) => day).filter((day) => ![4, 9, 10, 17, 22, 30, 35].includes(day));
  const dates = days.flatMap((day) => Array<string>(1 + (day % 2)).fill(new Date(Date.UTC(2024, 2, 1 + day)).toISOString().slice(0, 10)));
  const rows = dates.map((date, i) => `${date},${i % 3 ? 'none' : 'Bees'},${i + 1}`);
  const report = await reportOf('Does anything look wrong in gifts.csv?', { 'gifts.csv': `given_on,club,amount\n${rows.join('\n')}\n` });
  assert.doesNotMatch(report, /goes on day by day/);
  assert.match(report, /given_on is on 33 of 40 days\./);
  assert.match(report, /By club, "none" has the largest amount/);
});

test('rows that share a value are told as a tie, in one table and in two', async () => {
  const washes = Array.from({ length: 12 }, (_, i) => `W${i},${i === 0 ? 45 : i < 8 ? 8 : 3 + i / 10}`);
  const report = await reportOf('Analyse washes.csv', { 'washes.csv': `wash,paid_eur\n${washes.join('\n')}\n` });
  assert.match(report, /paid_eur is largest in row 1 \(W0\): 45, [^;]*; then 8 in 7 rows;/);
  const [left, right] = [
    washes.map((row, i) => `${row.split(',')[0]},${i < 5 ? 50 : 10 + i}`),
    washes.map((row, i) => `${row.split(',')[0]},Name ${'ABCDEFGHIJKL'[i]}`),
  ];
  const joined = await reportOf('Compare fees.csv with members.csv', {
    'fees.csv': `member_id,fee_paid\n${left.join('\n')}\n`,
    'members.csv': `member_id,name\n${right.join('\n')}\n`,
  });
  assert.match(joined, /fee_paid of the common keys is largest for 5 keys with 50; smallest for W5 \(Name F\) 15\./);
});

test('a tariff that changes once is told with the date from which it holds, and a row is not named by its duration', async () => {
  const rows = Array.from(
    { length: 14 },
    (_, i) => `2024-03-${String(i + 1).padStart(2, '0')},${['Ann', 'Bo'][i % 2]},${i < 6 ? '0.31' : '0.34'},1:0${i % 10}.5`,
  );
  const report = await reportOf('When did the tariff in rides.csv change?', {
    'rides.csv': `day,rider,tariff,lap_time\n${rows.join('\n')}\n`,
  });
  assert.match(
    report,
    /What was asked[\s\S]*tariff changes in time and stays: 0\.31 in 6 rows, then 0\.34 from 2024-03-07 \(row 7\) in 8 rows\./,
  );
  assert.match(
    report,
    /lap_time: mean 1:04\.1, median 1:03\.5 over 14 rows; longest 1:09\.5 in row 10 \(2024-03-10, Bo\), shortest 1:00\.5 in row 1 \(2024-03-01, Ann\) and row 11/,
  );
});

const dives = [
  'Noor,2025-06-07,09:00,09:40,Reef',
  'Noor,2025-06-07,11:00,11:30,Reef',
  'Noor,2025-06-08,09:00,09:20,Wreck',
  'Noor,2025-06-08,13:00,13:30,Wreck',
  'Egil,2025-06-07,09:00,13:00,Reef',
  'Egil,2025-06-08,23:00,01:00,Wreck',
  'Hanna,2025-06-08,10:00,?,Wreck',
  'Hanna,2025-06-08,14:00,17:00,Reef',
];

test('who worked most is answered by the hours from start to end, not by the number of rows, and each question by its own grouping', async () => {
  for (const [prompt, first, second] of [
    ['Who worked most in dives.csv, and on which day were most hours worked?', 'Who worked most', 'which day were'],
    ['Wer hat in dives.csv am meisten gearbeitet, und an welchem Tag wurden die meisten Stunden gearbeitet?', 'Wer hat', 'welchem Tag'],
  ] as const) {
    const report = await reportOf(prompt, { 'dives.csv': `diver,date,start,end,site\n${dives.join('\n')}\n` });
    const answers = report.slice(report.indexOf('## What was asked'), report.indexOf('## What stands out'));
    const [who, day] = [answers.indexOf(first), answers.toLowerCase().indexOf(second.toLowerCase())];
    assert.match(
      answers.slice(who, day),
      /Hours by diver: Egil 6 \(2 rows, 3 on average\), Hanna 3 \(1 row, 3 on average\), Noor 2 \(4 rows, 0.5 on average\)/,
    );
    assert.match(answers.slice(who, day), /Without row 7, where a time is missing or unreadable/);
    assert.doesNotMatch(answers, /most frequent|Hours by site/);
    assert.match(answers.slice(day), /Hours by day \(date\): 2025-06-08 5.83/);
  }
});

test('hours are counted between two columns with day and time too, unless they span more than a day', async () => {
  const rows = (days: number) =>
    ['Ana', 'Bea', 'Ana', 'Cem', 'Ana', 'Bea'].map(
      (who, i) => `${who},2025-09-0${i + 1} 08:00,2025-09-${String(i + 1 + days).padStart(2, '0')} ${who === 'Bea' ? '17' : '10'}:00`,
    );
  const ask = (days: number) =>
    reportOf('Who has the most hours in watch.csv?', { 'watch.csv': `guard,start,end\n${rows(days).join('\n')}\n` });
  assert.match(await ask(0), /\*\*\n\n- Hours by guard: Bea 18 \(2 rows, 9 on average\), Ana 6 \(3 rows, 2 on average\)/);
  assert.doesNotMatch(await ask(3), /Hours by guard/);
});

const ferries = [
  'F1,Isle,07:10,07:12',
  'F2,Isle,07:40,07:58',
  'F3,Cape,08:00,07:59',
  'F4,Cape,08:30,08:44',
  'F5,Isle,23:50,00:08',
  'F6,Cape,09:00,?',
  'F7,Cape,09:30,09:30',
];

test('how many are late is counted from a planned and an actual time, over midnight too, beyond the limit of the prompt', async () => {
  const report = await reportOf('How many ferries were more than 10 minutes late in ferries.csv?', {
    'ferries.csv': `trip,route,planned,actual\n${ferries.join('\n')}\n`,
  });
  assert.match(
    report,
    /\*\*\n\n- Share of rows in which actual − planned is over 10 minutes: 3 of 6 \(50 %\)\.\n- These rows, in minutes: [^.]*F2[^.]* 18/,
  );
  assert.match(
    report,
    /- Late \(actual after planned\): 4 of 6 \(66.7 %\) with both times; more than 10 minutes late: 3 of 6 \(50 %\), so 50 % are not: [^.]*F2[^.]* by 18 minutes[^.]*; early: 1\. By route: Isle 2 of 3 \(66.7 %\), Cape 1 of 3 \(33.3 %\)\. Not counted, because a time is missing or unreadable: row 6\./,
  );
});

test('of two dates with times a row that is late by less than a day is late', async () => {
  const rows = [5, -3, 0, 40, 61].map(
    (late, i) =>
      `J${i},2025-10-0${i + 1} 10:00,2025-10-0${i + 1} ${late < 0 ? '09' : late > 59 ? '11' : '10'}:${String((late + 60) % 60).padStart(2, '0')}`,
  );
  const report = await reportOf('Wie viele Aufträge waren verspätet? Siehe jobs.csv', {
    'jobs.csv': `job,geplant,erledigt\n${rows.join('\n')}\n`,
  });
  assert.match(report, /Late \(erledigt after geplant\): 3 of 5 \(60 %\) with both times/);
});
