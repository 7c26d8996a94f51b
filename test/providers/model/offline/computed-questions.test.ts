/** Questions whose answer needs a value of each row: from two columns, against a limit, or of an outcome, by group and by part of a date. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsIn } from '../../../../src/providers/model/offline/limits.ts';
import { isEnglish, numberIn } from '../../../../src/providers/model/offline/prompt-numbers.ts';
import { questionsIn } from '../../../../src/providers/model/offline/questions.ts';
import { runAgent } from './agent-loop.ts';

const clock = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
/** Two lifts, two weeks from Monday 2026-02-02 on; Gipfel starts its cabins late, most of all on Fridays. */
const rides = Array.from({ length: 28 }, (_, i) => {
  const day = 2 + Math.floor(i / 2);
  const lift = i % 2 === 0 ? 'Gipfel' : 'Alm';
  const late = (lift === 'Gipfel' ? 6 : 1) + (day % 7 === 6 ? 12 : 0);
  const start = 540 + i * 5;
  return { id: `R${i + 1}`, day: `2026-02-${String(day).padStart(2, '0')}`, lift, late, start, booked: 10 + i, seated: 9 + i - (i % 3) };
});
const lifts = `ride,day,lift,planned_start,actual_start,planned_stop,actual_stop,seats_booked,seats_taken\n${rides
  .map(
    ({ id, day, lift, late, start, booked, seated }) =>
      `${id},${day},${lift},${clock(start)},${clock(start + late)},${clock(start + 20)},${clock(start + 21)},${booked},${seated}`,
  )
  .join('\n')}\n`;

async function reportOf(task: string, files: Record<string, string>): Promise<string> {
  const { workspace } = await runAgent(task, { files });
  return workspace.text('report.md');
}

function under(report: string, question: string): string {
  const from = report.indexOf(`**${question}`);
  assert.ok(from >= 0, `no answer to ${question}`);
  const ends = ['\n\n**', '\n\n## '].map((mark) => report.indexOf(mark, from)).filter((at) => at > 0);
  return report.slice(from, Math.min(report.length, ...ends));
}

test('the difference of two columns is told by row, by group, by weekday and before and after a day', async () => {
  const report = await reportOf(
    'lifts.csv: which three rides started latest (actual start minus planned start)? What is the mean delay per lift? ' +
      'On which weekday is the mean delay largest? How does the mean delay before 9 February compare with after, by lift? ' +
      'How many booked seats stayed empty (booked minus taken) by lift and month?',
    { 'lifts.csv': lifts },
  );
  assert.match(
    under(report, 'Which three rides'),
    /Largest actual_start − planned_start in minutes: row 9 \(R9\) 18, row 23 \(R23\) 18 and row 10 \(R10\) 13; 1 more row has 13 too;/,
  );
  // 12 of 14 rides are 6 late and 2 are 18; the other lift 1 and 13.
  assert.match(
    under(report, 'What is the mean delay'),
    /By lift, Gipfel has the largest mean .* Gipfel 7\.71 \(14 rows, sum 108\), Alm 2\.71 \(14 rows, sum 38\)/,
  );
  assert.match(
    under(report, 'Which weekday'),
    /By weekday \(day\), Friday has the largest mean .*: Monday 3\.50 .*, Friday 15\.50 \(4 rows, sum 62\)/,
  );
  const compared = under(report, 'How does the mean delay');
  assert.match(compared, /before 2026-02-09 5\.21 \(14 rows, sum 73\), from 2026-02-09 on 5\.21/);
  assert.match(compared, /Alm: before 2026-02-09 2\.71 \(7 rows, sum 19\)/);
  assert.match(under(report, 'How many booked'), /Sum of seats_booked − seats_taken|By lift, .* sum of seats_booked − seats_taken/);
});

test('of several planned times, that of the question is compared with its own actual time', async () => {
  const report = await reportOf('Which lift has the largest mean delay at the stop? See lifts.csv', { 'lifts.csv': lifts });
  assert.match(under(report, 'Which lift'), /mean of actual_stop − planned_stop in minutes: Alm 1|actual_stop − planned_stop/);
  assert.doesNotMatch(under(report, 'Which lift'), /actual_stop − planned_start|actual_start/);
});

test('a limit keeps its unit, is converted to that of the values, and a target in percent tells who misses it', async () => {
  const report = await reportOf(
    'Which lifts start at least 80 percent of their rides within 10 minutes of the plan? How many rides started over 0.2 hours late, by lift? See lifts.csv, start times.',
    { 'lifts.csv': lifts },
  );
  assert.match(
    under(report, 'Which lifts start'),
    /lift with share of rows in which actual_start − planned_start is at most 10 minutes at least 80 %: Gipfel 12 of 14 \(85\.7 %\) and Alm 12 of 14 \(85\.7 %\)\. Not at least 80 %: none/,
  );
  assert.match(under(report, 'How many rides'), /over 0\.20 hours \(12 minutes\)[^\n]* (?:Gipfel|Alm) 2 of 14 \(14\.3 %\)/);
  assert.deepEqual(boundsIn('rides that are more than 2 hours late'), { above_minutes: 120, above: 2 });
  assert.deepEqual(boundsIn('Fahrten mit mehr als 15 Minuten Verspätung'), { above_minutes: 15, above: 15 });
});

test('a comma before three digits separates thousands in an English text, and decimals in a German one', () => {
  assert.equal(numberIn('3,631', isEnglish('Which of the shops sold more than 3,631 pieces?')), 3631);
  assert.equal(numberIn('3,631', isEnglish('Welche der Filialen hat mehr als 3,631 Tonnen?')), 3.631);
  assert.equal(numberIn('3.631', isEnglish('Welche der Filialen hat mehr als 3.631 Stück?')), 3631);
  assert.deepEqual(boundsIn('Which of the days had more than 4,250 visitors?'), { above: 4250 });
});

/** Loans of a library: Nord has returned 5 of 8, Sued 7 of 8. */
const spellings = ['Y', 'yes', 'YES', '1', 'true', 'N', 'no', 'n', 'y', 'yes', 'Yes', '1', 'true', 'Y', 'y', 'no'];
const loans = `loan,lent_on,branch,fee_per_day,days,came_back\n${spellings
  .map((spelling, i) => `L${i + 1},2026-0${i % 2 === 0 ? 3 : 4}-1${i % 8},${i < 8 ? 'Nord' : 'Sued'},${i < 8 ? 2 : 3},${i + 1},${spelling}`)
  .join('\n')}\n`;

test('the rate of a yes or no is told by group and month, its spellings are merged, and the merge is said', async () => {
  const report = await reportOf('What share of the loans came back, by branch and month? See loans.csv', { 'loans.csv': loans });
  const answer = under(report, 'What share');
  assert.match(answer, /share of rows in which came_back is yes[^\n]*: Sued 7 of 8 \(87\.5 %\), Nord 5 of 8 \(62\.5 %\)/);
  assert.match(answer, /by branch and month \(lent_on\): Nord: 2026-03 \d of 4/);
  assert.match(answer, /Spellings in came_back are merged; counted: [^;]*Y 2[^;]*; not counted: [^\n]*no 2/);
});

/** Sales of a nursery; two of ten orders are cancelled, and count only where the question is on them. */
const plants = Array.from({ length: 20 }, (_, i) => ({
  id: `P${i + 1}`,
  day: `2026-0${i < 10 ? 4 : 5}-0${(i % 9) + 1}`,
  yard: i % 2 ? 'West' : 'Ost',
  pots: 2 + (i % 5),
  price: i % 4 === 0 ? 7.5 : 4,
  state: i % 10 === 3 ? 'cancelled' : 'sold',
}));
const nursery = `order,sold_on,yard,pots_sold,price_per_pot,state\n${plants
  .map(({ id, day, yard, pots, price, state }) => `${id},${day},${yard},${pots},${price},${state}`)
  .join('\n')}\n`;
const sumOf = (rows: typeof plants, value: (row: (typeof plants)[number]) => number) => rows.reduce((sum, row) => sum + value(row), 0);
const sold = plants.filter(({ state }) => state === 'sold');

test('a product is summed up over the rows that the question counts, and a mean price is weighted by its quantity', async () => {
  const west = sold.filter(({ yard }) => yard === 'West');
  const worth = sumOf(west, ({ pots, price }) => pots * price);
  const report = await reportOf(
    'What is the turnover (pots sold times price) by yard, counting only sold rows? What is the weighted mean price by yard? Which yard has the highest rate of cancelled orders? See nursery.csv',
    { 'nursery.csv': nursery },
  );
  assert.match(under(report, 'What is the turnover'), new RegExp(`where state is sold, .* West ${worth}(?:\\.00)? \\(8 rows`));
  assert.match(under(report, 'What is the weighted'), new RegExp(`West 4 \\(${worth} ÷ ${sumOf(west, ({ pots }) => pots)}\\)`));
  assert.match(under(report, 'Which yard'), /share of rows in which state is cancelled[^\n]*: West 2 of 10 \(20 %\), Ost 0 of 10/);
});

test('the same is asked in German and French, with a day written as an ordinal', async () => {
  const before = sold.filter(({ day, yard }) => day < '2026-05-01' && yard === 'Ost');
  const worth = sumOf(before, ({ pots, price }) => pots * price);
  assert.deepEqual(questionsIn('Wie hoch ist der Umsatz vor dem 1. Mai? Was fehlt?'), [
    'Wie hoch ist der Umsatz vor dem 1. Mai?',
    'Was fehlt?',
  ]);
  const german = await reportOf('Berechne den Umsatz vor dem 1. Mai nach yard in nursery.csv.', { 'nursery.csv': nursery });
  assert.match(under(german, 'Berechne den Umsatz'), new RegExp(`where sold_on is before 2026-05-01, .* Ost ${worth.toFixed(2)} `));
  const french = await reportOf('Quelle est la part des commandes annulées par mois dans nursery.csv ?', { 'nursery.csv': nursery });
  assert.match(under(french, 'Quelle est la part'), /2026-04 1 of 10 \(10 %\), 2026-05 1 of 10 \(10 %\)/);
});

test('a question for a thing that no column is about is answered with just that, and not with another figure', async () => {
  const report = await reportOf(
    'How much water did each yard use? Which gardeners sold most? What is the turnover by colour? See nursery.csv',
    {
      'nursery.csv': nursery,
    },
  );
  assert.match(under(report, 'How much water'), /no column about water, only order, sold_on, yard/);
  assert.doesNotMatch(under(report, 'How much water'), /largest|adds up|\d{2}/);
  assert.match(under(report, 'What is the turnover'), /No column is known to be about "colour"/);
  const french = await reportOf('Quelle météo faisait-il par yard dans nursery.csv ?', { 'nursery.csv': nursery });
  assert.match(under(french, 'Quelle météo'), /no column is known to be about "météo"/);
});

test('a question on days of the week is not answered with a finding that tells of none', async () => {
  const report = await reportOf('Is anything odd about the weekday of the pots? See pots.csv', {
    'pots.csv': `pot,yard,height\n${plants.map(({ id, yard, pots }) => `${id},${yard},${pots}`).join('\n')}\n`,
  });
  assert.doesNotMatch(report.slice(0, report.indexOf('## What stands out')), /By yard/);
});
