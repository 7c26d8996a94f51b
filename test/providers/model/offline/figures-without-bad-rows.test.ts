/** Outliers within groups, figures without rows that look wrong, figures by currency, and differences from a plan in per cent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

type Case = { says: string; prompt: string; files: Record<string, string>; expected: RegExp[]; never?: RegExp[] };

const readings = Array.from({ length: 24 }, (_, hour) => {
  const value = hour === 5 || hour === 17 ? -999 : 10 + ((hour * 7) % 11) / 10;
  return `2025-03-01 ${String(hour).padStart(2, '0')}:00,${value}`;
});
const usage = ['Jan', 'Feb', 'Mar', 'Apr', 'May'].flatMap((month, i) => [
  `${month},Large hall,${9000 + i * 40}`,
  `${month},Office,${month === 'Mar' ? 0 : 300 + i * 5}`,
  `${month},Store,${month === 'Apr' ? 1900 : 200 + i * 3}`,
  `${month},Shed,${110 + i}`,
]);

const hives = ['Oak', 'Elm', 'Fir', 'Ash'];
/** Four hives on each of eight days; one weight is far from the others, and two cells are without a weight. */
const harvest = Array.from({ length: 32 }, (_, i) => {
  const frames = 4 + ((i * 5) % 9);
  const weight = i === 14 ? 96 : i === 21 ? '' : Math.round(frames * 18 + (i % 3)) / 10;
  return `2025-06-0${Math.floor(i / 4) + 1},${'North South'.split(' ')[(i >> 1) % 2]},${hives[i % 4]},0${10 + ((i * 3) % 4)},${frames},${weight}`;
});

const cases: Case[] = [
  {
    says: 'a peak that contains an outlier tells the figure without it, an outlier the figure that it otherwise correlates with',
    prompt: 'How did the harvest develop?',
    files: { 'harvest.csv': `day,field,hive,keeper,frames,income\n${harvest.join('\n')}\n` },
    expected: [
      /By day, income was highest in 2025-06-04 \([\d.]+\) and lowest in .*\. Without row 15 \(96\), 2025-06-04 would have [\d.]+/,
      /Outlier: row 15 has income 96, .* frames \d+, with which it otherwise correlates\)/,
      /income is missing in row 22 \(2025-06-06, Elm\)/,
      /keeper holds codes, .* never added up\. All rows by keeper: 010 8, 013 8, 012 8, 011 8\./,
    ],
  },
  {
    says: 'what is over and under a budget is also told in per cent of the budget, and what nobody used is named',
    prompt: 'Compare spent.csv with budget.csv: what is over budget, also in percent?',
    files: {
      'budget.csv': 'item,budget\nFood,400\nRoom,1000\nMusic,250\n',
      'spent.csv': 'item,spent\nFood,300\nFood,200\nRoom,900\nFlowers,75\n',
    },
    expected: [
      /budget is 1,650 and spent 1,475 \(89\.4 %\): budget − spent = 175 \(10\.6 %\) in all/,
      /spent is above budget for 1 key: Food by 100 \(25 %\)/,
      /spent is below budget for 2 keys, together 350: Music by 250 \(nothing at all\) and Room by 100 \(10 %\)/,
      /Only in spent\.csv, not in budget\.csv: 1 key \(Flowers \(row 4, spent 75\)\)/,
    ],
  },
  {
    says: 'a value that is usual in its group is no outlier, and one that is unusual only in its group is one',
    prompt: 'Is there an odd value in usage.csv?',
    files: { 'usage.csv': `month,place,kwh\n${usage.join('\n')}\n` },
    expected: [
      /Outlier within place Office: row 10 \(Mar, Office\) has kwh 0; its other rows have 300 to 320/,
      /Outlier within place Store: row 15 \(Apr, Store\) has kwh 1,900; its other rows have 200 to 212/,
    ],
    never: [/Outlier: row \d+ has kwh 9/, /Outlier within place (?:Large hall|Shed)/],
  },
  {
    says: 'error values are named, and the figures without them are told',
    prompt: 'What are the real lowest and mean values in tank.csv, without failed readings?',
    files: { 'tank.csv': `time,level_m\n${readings.join('\n')}\n` },
    expected: [
      /Outliers: level_m is -999 in 2 rows \(rows 6 and 18\), far from the usual .*; devices and programs write such a value/,
      /level_m goes from 10 to 11 over 22 rows \(mean 10\.48, median [\d.]+\), without 2 values of level_m that devices write for a failed reading; mean -73\.64 over all 24 rows/,
    ],
  },
  {
    says: 'repeated rows are left out of a mean and of the counts of their groups',
    prompt: 'How slow is each host in calls.csv?',
    files: {
      'calls.csv': `call,host,latency_ms\nc1,north,40\nc2,north,60\nc3,south,100\nc3,south,100\nc4,south,130\n${Array.from({ length: 7 }, (_, i) => `d${i},north,${50 + i}`).join('\n')}\n`,
    },
    expected: [
      /1 row is an exact duplicate.* Without it 11 rows remain \(host south 2 instead of 3\)/,
      /latency_ms goes from 40 to 130 over 11 rows \(mean 63\.73, median 54\), without 1 exact duplicate; mean 66\.75 over all 12 rows/,
      /By host, south has the largest mean latency_ms: 115; .*With what the figures leave out: south 110\./,
    ],
  },
  {
    says: 'amounts in several currencies are told by group for each currency and never added',
    prompt: 'What did each person spend, per currency? See trips.csv',
    files: {
      'trips.csv':
        'id,person,amount,currency\n1,Ada,10,EUR\n2,Ada,20,USD\n3,Ben,30,EUR\n4,Ben,5,USD\n5,Ada,7,USD\n6,Ben,40,EUR\n7,Ada,1,GBP\n8,Ben,2,GBP\n8,Ben,2,GBP\n',
    },
    expected: [
      /amount in EUR by person: Ben 70 .*, Ada 10/,
      /amount in USD by person: Ada 27 .*, Ben 5/,
      /amount in GBP by person: Ben 2 .*, Ada 1/,
      /amount in GBP adds up to 3 without it \(5 with\)/,
    ],
    never: [/adds up to 117|adds up to 115/],
  },
];

for (const { says, prompt, files, expected, never = [] } of cases) {
  test(says, async () => {
    const { workspace } = await runAgent(prompt, { files });
    const report = workspace.text('report.md');
    for (const pattern of expected) assert.match(report, pattern);
    for (const pattern of never) assert.doesNotMatch(report, pattern);
  });
}

test('only adjacent periods are compared, and the periods around a gap are named', async () => {
  const rows = '2024-08,100\n2024-09,110\n2024-10,90\n2024-12,400\n2025-01,120\n2025-02,115\n';
  const { workspace } = await runAgent('How did visitors develop in visits.csv?', { files: { 'visits.csv': `month,visitors\n${rows}` } });
  const report = workspace.text('report.md');
  assert.match(report, /the largest rise is from 2024-08 \(100\) to 2024-09 \(110\), \+10 %; the largest fall from 2024-12 \(400\)/);
  assert.match(report, /Not compared, because the periods between them have no figure: 2024-10 to 2024-12\./);
});

test('the step after a mistaken low reading of a counter is not its largest, and counters have no mean over time', async () => {
  const days = Array.from({ length: 20 }, (_, i) => `2025-02-${String(i + 1).padStart(2, '0')}`);
  const rows = days.flatMap((day, i) => [`${day},M1,${5000 + i * 25}`, `${day},M2,${i === 12 ? 300 : 800 + i * 5}`]);
  const { workspace } = await runAgent('How much did each meter use in meters.csv?', {
    files: { 'meters.csv': `day,meter,reading_kwh\n${rows.join('\n')}\n` },
  });
  const report = workspace.text('report.md');
  assert.match(report, /M2: reading_kwh falls by 555 in row 26/);
  assert.match(report, /M2: reading_kwh is a counter: [^.]*the largest step is 5 /);
  assert.doesNotMatch(report, /the mean reading_kwh was highest|From 2025-02-01 \(2,9/);
});

test('amounts are converted at the exchange rates of another file if the name of the rate tells the direction', async () => {
  const costs =
    'id,team,amount,currency\n1,Red,100,USD\n2,Red,50,EUR\n3,Blue,200,GBP\n4,Blue,30,EUR\n5,Green,400,USD\n6,Green,10,CHF\n7,Red,,EUR\n';
  const prompt = 'costs.csv and fx.csv: what did we spend in total in euros, and which team spent most?';
  const reportWith = async (header: string) => {
    const rates = `currency,${header}\nEUR,1\nUSD,0.9\nGBP,1.2\n`;
    return (await runAgent(prompt, { files: { 'costs.csv': costs, 'fx.csv': rates } })).workspace.text('report.md');
  };
  const report = await reportWith('rate_to_eur');
  assert.match(report, /amount × rate\\?_to\\?_eur \(costs\.csv at the rates of fx\.csv\) is 770 EUR over 5 rows/);
  assert.match(
    report,
    /in EUR by team: Green 360 \(46\.8 %\), Blue 270 \(35\.1 %\) and Red 140 \(18\.2 %\)\.\n.*in EUR by currency: USD 450 .*, GBP 240 .* and EUR 80/,
  );
  assert.match(
    report,
    /largest in row 5 \(5\): 360 EUR\. Not converted: row 7 \(7\), without an amount or a currency; CHF 10, without a rate \(row 6 \(6\)\)\./,
  );
  assert.doesNotMatch(report, /There is no total in euros/);
  assert.doesNotMatch(await reportWith('rate'), /at the rates of/);
});
