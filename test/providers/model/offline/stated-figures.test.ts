/** What a text states about a table beside it is set against the computed figures, and its rules are applied; the figures are computed by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const repairs = `date,mechanic,status,hours,takings_eur
2026-08-03,Ulla,open,2,120
2026-08-10,Veit,closed,5,300
2026-08-24,Ulla,closed,3,180
2026-09-02,Veit,open,4,260
2026-09-09,Wanda,closed,6,400
2026-09-16,Ulla,open,1,90
2026-09-30,Veit,closed,2,150
`;
const notes = `Workshop notes, 5 October 2026

The takings rose by 50 percent in September.
Veit had the most hours.
Wanda had the most repairs.
We have 3 open repairs.
The total of the takings is 1,600 euros.
We hope for 20 repairs next month.
The coffee machine has 4 cups.
Ulla had the highest takings of a day.
`;
const answerIn = (report: string) => report.split('## What was asked')[1]!.split('\n## ')[0]!;
const told = async (prompt: string, files: Record<string, string>) =>
  answerIn((await runAgent(prompt, { files })).workspace.text('report.md').replace(/\\([|<>[\]`*])/g, '$1'));

test('statements of a text hold or differ, each with the computed figure, and what is not certain is not checked', async () => {
  const answer = await told('Are the statements in notes.txt right? Check them against repairs.csv.', {
    'repairs.csv': repairs,
    'notes.txt': notes,
  });
  assert.match(
    answer,
    /line 3: "The takings rose by 50 percent in September\." holds: takings_eur changed by \+50 %, from 600 in 2026-08 to 900 in 2026-09/,
  );
  assert.match(answer, /line 4: "Veit had the most hours\." holds: hours by mechanic: Veit 11, Ulla 6, Wanda 6/);
  assert.match(answer, /line 5: "Wanda had the most repairs\." differs: rows of repairs\.csv by mechanic: Ulla 3, Veit 3, Wanda 1/);
  assert.match(answer, /line 6: "We have 3 open repairs\." holds: 3 rows with status open/);
  assert.match(answer, /line 7: "The total of the takings is 1,600 euros\." differs: takings_eur adds up to 1,500/);
  assert.match(answer, /Not checked, since no column or group could be found for it with certainty: notes\.txt, line 8/);
  assert.doesNotMatch(answer, /highest takings/);
  assert.doesNotMatch(answer, /cups/);
});

test('the question whether statements are right is not answered with the quality of the data', async () => {
  const answer = await told('Are the statements in notes.txt on repairs.csv right?', { 'repairs.csv': repairs, 'notes.txt': notes });
  assert.doesNotMatch(answer, /Only with care|question the data|nothing wrong was found/i);
});

test('statements are checked although only a summary is asked for', async () => {
  const answer = await told('Summarise repairs.csv and notes.txt', { 'repairs.csv': repairs, 'notes.txt': notes });
  assert.match(answer, /What notes\.txt states, beside repairs\.csv\*\*(?:.*\n)+?.*adds up to 1,500/);
});

const rentals = `rental_id,boat,renter,due_date,returned_date
1,Kayak,Ilse,2026-07-01,2026-07-03
2,Canoe,Jon,2026-07-04,2026-07-04
3,Kayak,Kim,2026-07-06,2026-07-07
4,Raft,Ilse,2026-07-09,
5,Canoe,Lou,2026-07-11,2026-07-10
`;
const terms = `Boat house, terms

Each late return costs a fee of 7 euros.
The following members must rent once a season: Ilse, Jon, Kim, Lou, Mats.
Two rentals came back late.
`;

test('a fee for each late row is added up, and expected entries that no row has are named', async () => {
  const answer = await told(
    'What do the late fees in terms.txt add up to? Which expected members are missing? Does terms.txt agree with rentals.csv?',
    {
      'rentals.csv': rentals,
      'terms.txt': terms,
    },
  );
  assert.match(answer, /in 2 of 4 rows with both, so 2 fees, 14 euros in all; not counted: 1 row has no returned_date \(rule: line 3\)/);
  assert.match(answer, /Expected are 5 entries; in renter of rentals\.csv are 4 of them, missing: Mats .*\(rule: line 4\)/);
  assert.match(answer, /line 5: "Two rentals came back late\." holds/);
});

test('a fee for each day of delay is said to be not added up', async () => {
  const daily = terms.replace('Each late return costs a fee of 7 euros.', 'For each day late the fee is 7 euros.');
  const answer = await told('What do the late fees in terms.txt add up to for rentals.csv?', {
    'rentals.csv': rentals,
    'terms.txt': daily,
  });
  assert.match(answer, /The fee of 7 euros is not added up/);
});

test('German statements and a limit are checked alike', async () => {
  const answer = await told('Stimmen die Aussagen in notiz.txt zu reparaturen.csv? Wird der Grenzwert überschritten?', {
    'reparaturen.csv': repairs.replace('date,mechanic,status,hours,takings_eur', 'datum,mechaniker,status,stunden,umsatz_eur'),
    'notiz.txt': 'Notiz\n\nUlla hatte die meisten Stunden.\nDie Stunden dürfen höchstens 5 betragen.\n',
  });
  assert.match(answer, /"Ulla hatte die meisten Stunden\." differs: stunden by mechaniker: Veit 11/);
  assert.match(answer, /The largest stunden is 6 \(row 5 of reparaturen\.csv\), above the limit of 5/);
});
