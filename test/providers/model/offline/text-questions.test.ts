/** Questions on texts: each is answered by the rule for its topic, with the lines it rests on; where the text says nothing, the answer says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clausesIn } from '../../../../src/providers/model/offline/questions.ts';
import { runAgent } from './agent-loop.ts';

const incident = `# Incident: pump station offline

Written by Lena Vogt, 14 January 2026

## Summary

On 12 January 2026 the town had no water for about two hours. 900 households were affected, and 140 guests had to leave the pool.

## What happened

- 22:50 The night shift cleaned the filter.
- 07:35 The first pump failed.
- 07:50 Three calls reached the hotline.
- 08:20 The technician, Omar Haddad, arrived on site.
- 08:40 The fuse was replaced. That did not help.
- 09:10 Omar found that the probe was broken.
- 10:30 Omar replaced the probe; at 10:45 the pumps were running again.

No alarm went off, because the probe only checks the level.

## Effect

1,250 households could not draw water. 250 of these households came back to the network at once and paid nothing. The average bill is 4 euros a day.

## Measures

1. Second probe, Omar, by 31 January
2. Test of the alarm

The same test was agreed in 2023 and is still not done.
`;
const minutes = `Minutes of the rowing club
Date: Saturday, 8 November 2025
Present: Nora Feld, Bo Clay

1. Roof
The overview: beams 9,000, tiles 14,500, gutters 4,000; in total 28,500 euros. The city has granted 6,000 euros.
The association might give another 4,000 euros. How the rest is financed was not decided.
Bo suspects that the gutter leaks. It has not been examined so far.

2. Boats
The purchase of a boat was approved unanimously.
Somebody should book the trailer.
`;
const report = async (prompt: string, file: string) =>
  (await runAgent(prompt, { files: { 'text.md': file } })).workspace.text('summary.md');

test('a task is divided into its clauses, also where they are no questions', () => {
  assert.deepEqual(
    clausesIn('Please work out how long it took, who has to do what, and whether the votes are right. How much is missing?'),
    ['Work out how long it took', 'Who has to do what', 'Whether the votes are right.', 'How much is missing?'],
  );
});

test('lengths of time are computed from the entries of a timeline that fit the question, and the stated one is compared', async () => {
  const told = await report(
    'How long was there an outage, how long did it take until a technician worked on it, and how long from then to the repair? How long from the calls to the arrival of Omar?',
    incident,
  );
  assert.match(
    told,
    /\*\*How long was there an outage\*\*\n\n- 3 h 10 min \(190 minutes\), from 07:35 \(.*, line 12\) to 10:45 \(.*, line 17\)\./,
  );
  assert.match(told, /technician worked on it\*\*\n\n- 45 minutes, from 07:35 .* to 08:20 /);
  assert.match(
    told,
    /from then to the repair\*\*\n\n- 2 h 25 min \(145 minutes\), from 08:20 .* to 10:45 .*\n- 2 h 10 min \(130 minutes\), from 08:20 .* to 10:30 /,
  );
  assert.match(told, /arrival of Omar\*\*\n\n- 30 minutes, from 07:50 .* to 08:20 /);
});

test('the figures of a summary are compared with those of the details', async () => {
  const told = await report('Does the summary agree with the details?', incident);
  assert.match(told, /The summary says "two hours" \(.*\); by the times of the text it is 3 h 10 min/);
  assert.match(
    told,
    /The summary says 900 households \(.*\); no other place of the text has this figure\. On the matter the text has: .*1,250 households/,
  );
});

test('a closure lasts from its entry to the opening', async () => {
  const pool =
    'Incident log of the pool\n\n07:35 The first complaint.\n08:05 The pool was closed.\n11:45 The values were normal again.\n12:05 The pool was opened again.\n';
  assert.match(await report('How long was the pool closed?', pool), /- 4 h \(240 minutes\), from 08:05 .* to 12:05 /);
});

test('cause, what was ruled out and why it was noticed late are quoted under their questions', async () => {
  const told = await report('What was the cause, what was ruled out, and why was it noticed so late?', incident);
  assert.match(
    told,
    /\*\*What was the cause\*\*\n\nThe text gives as the cause:\n\n.*\n.*\n\| 09:10 Omar found that the probe was broken\. \|/,
  );
  assert.match(told, /\*\*What was ruled out\*\*\n\n.*\n.*\n\| .*That did not help\. \| 15 \|\n\n/);
  assert.match(told, /noticed so late\*\*\n\n.*\n.*\n\| No alarm went off, because the probe only checks the level\. \| 19 \|\n\n/);
});

test('a suspicion is no cause, and where the text names none the answer says so', async () => {
  const told = await report('Why does water drip from the roof? Why is the boat late?', minutes);
  assert.match(
    told,
    /The cause is not established\. .*\n\n.*\n.*\n\| Bo suspects that the gutter leaks\. It has not been examined so far\. \| 8 \|/,
  );
  assert.match(told, /Why is the boat late\*\*\n\nThe text does not say why it was noticed late\./);
});

test('measures without a person or a date are listed, also those agreed earlier and still open', async () => {
  const told = await report('Which measures have no owner or date?', incident);
  assert.match(
    told,
    /\| Test of the alarm \| a person and a date \| 28 \|\n\n- Agreed earlier and still open: "The same test was agreed in 2023 and is still not done\.", line 30\./,
  );
  assert.doesNotMatch(told, /Second probe.*\| a person/);
});

test('the money that is missing is the sum of the items less what is there', async () => {
  const told = await report('How much money is missing for the roof?', minutes);
  assert.match(told, /- 21,500 euros are missing: 27,500 euros \(the sum of the items of line 6\) less 6,000 euros /);
  assert.match(told, /With the total as the text states it, 28,500 euros, it would be 22,500 euros/);
  assert.match(told, /Not counted, because it is not certain .*another 4,000 euros/);
});

test('a loss that the text does not state is estimated with the figures of the text, and only then', async () => {
  const told = await report('How much money was lost?', incident);
  assert.match(told, /The text does not say how much money was lost\. It can only be estimated\./);
  assert.match(told, /leaves 1,000\.\n.*1,000 × 4 euros = 4,000 euros/);
  assert.match(
    await report('How much money was lost?', minutes),
    /\*\*How much money was lost\*\*\n\nThe text does not say how much money was lost\.\n/,
  );
});

test('decided, to do and open are answered once each, and the report does not repeat them', async () => {
  const { summary, workspace } = await runAgent('What was decided, who has to do what, and what is still open?', {
    files: { 'text.md': minutes },
  });
  const told = workspace.text('summary.md');
  assert.match(told, /\| The purchase of a boat was approved unanimously\. \| Boats \| 11 \|/);
  assert.match(told, /\| nobody named \| Somebody should book the trailer\. \| not said \|/);
  assert.match(told, /\| How the rest is financed was not decided\. \| put off or not decided \| Roof \| 7 \|/);
  for (const heading of ['Decisions', 'Actions', 'Put off or not decided']) assert.doesNotMatch(told, new RegExp(`### ${heading}\n`));
  assert.equal(summary.split('Somebody should book').length - 1, 2, 'once as an action, once as open');
});

test('a question that no rule answers is answered with the nearest lines, beside the others', async () => {
  const told = await report('Who has to do what? When was the technician on site?', incident);
  assert.match(
    told,
    /When was the technician on site\*\*\n\nEntries with .*\n\n.*\n.*\n\| {2}\| 08:20 \| The technician, Omar Haddad, arrived on site\. \|/,
  );
  const other = await report('Which firm made the probe?', incident);
  assert.match(other, /Which firm made the probe\?\*\*\n\nNot answered by the built-in rules; these lines/);
});

const bog = `Peat bog comes back to life

By Ann Berg, 14 March 2025

After six years of work, the largest bog of the county was declared restored on Tuesday. The trust has closed 38 kilometres of drainage ditches.

"In 2019 you could walk across it in slippers," said Fiona Tait, who leads the project. "Today you need boots."

The work cost 6.4 million pounds. The national fund paid 4.1 million, the county 1.5 million, and 0.8 million came from donations. Douglas Mair, who farms there, says that 17 hectares have become too wet.

The ditches, 36 kilometres in all, were closed with dams.
`;

test('who says what is answered with quotes to their end and with what is reported', async () => {
  const told = await report('Who says what in text.md, and what happened?', bog);
  assert.match(
    told,
    /\| "In 2019 you could walk across it in slippers," said Fiona Tait, who leads the project\. "Today you need boots\." \| 7 \|/,
  );
  assert.match(told, /\| Douglas Mair, who farms there, says that 17 hectares have become too wet\. \| 9 \|/);
  assert.match(told, /What happened\*\*\n\nThe text begins with:\n\n.*\n.*\n\| After six years of work/);
});

test('sources in millions are added up, a right sum is told, and two measures of one thing are compared', async () => {
  const told = await report('Do the figures in text.md fit together?', bog);
  assert.match(told, /\(4\.1 million, 1\.5 million, 0\.8 million\) add up to the stated cost of 6\.4 million pounds\./);
  assert.match(told, /says 38 kilometres \(.*line 5\) and 36 kilometres \(.*line 11\) of the same thing/);
  const other = await report(
    'Do the figures in text.md fit together?',
    bog.replace('The ditches, 36 kilometres in all', 'The other ditches, 36 kilometres in all'),
  );
  assert.doesNotMatch(other, /same thing/);
});

test('changes between two times are computed with difference and percent, and only where both are stated', async () => {
  const article = `Light on the hill

By Ann Berg, 19 September 2025

The council expects 40,000 visitors a year, up from 26,000 in 2021. The water stood 41 centimetres below the surface in 2019 and 12 centimetres below it in 2024. A ticket costs 9 euros for adults and 4 euros for children. The windows are to be replaced by the end of November.
`;
  const told = await report('How much have visitors and water changed in text.md?', article);
  assert.match(told, /\| 26,000 to 40,000 visitors: \+14,000 visitors, \+53\.8 % \|/);
  assert.match(told, /\| 41 centimetres to 12 centimetres: −29 centimetres, −70\.7 % \|/);
  assert.doesNotMatch(told, /9 euros to 4 euros/);
  assert.match(told, /\| end of November \| 2025-11-30 .* The windows are to be replaced/);
});

test('a request in a mail is a task and no open question', async () => {
  const mail =
    'From: Nora Feld <nora@club.example>\nTo: Bo Clay <bo@club.example>\nDate: Mon, 12 May 2025 09:14\nSubject: Press\n\nHi Bo,\n\ncan you book the forklift by Friday? I do not know yet who will connect the power.\n\nNora\n';
  const told = await report('Who has to do what, and what is open in text.md?', mail);
  const open = told.slice(told.indexOf('**What is open'), told.indexOf('## What text.md holds'));
  assert.match(told, /\| recipient: Bo Clay .*an you book the forklift by Friday\?/);
  assert.match(open, /who will connect the power/);
  assert.doesNotMatch(open, /forklift/);
});
