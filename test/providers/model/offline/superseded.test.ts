/** What a later sentence replaces: days and amounts of minutes, chats and mails, with the decisions that fall with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { runAgent } from './agent-loop.ts';

const old = (text: string) => readFacts(text).superseded.map(({ written, line, by }) => `${written} (${line}) by ${by.line}`);
const read = async (prompt: string, text: string) => (await runAgent(prompt, { files: { 'text.txt': text } })).workspace.text('summary.md');

const minutes = `# Protokoll des Wandervereins, Montag, 3. Februar 2025

### TOP 1 Kasse

- Bestand am 31. Januar: 2.120,40 Euro

### TOP 2 Herbstlauf

Abstimmung: Seerunde, 6. September: 8 ja, 2 nein.
Meldungen bis 1. August an die Kasse.
Der Bus ist am 6. September in Reparatur.

### TOP 5 Verschiedenes

- Am Ufer wird gebaut. Damit wird der Herbstlauf auf Sonntag,
  21. September, verlegt, die Seerunde bleibt.
- Der Meldeschluss wird auf 20. August gesetzt.
- Die Startgebühr ist 14,50 Euro, nicht 12,50.
- E. Timm berichtigt den Vereinsbestand: ein Zuschuss stand doppelt. Richtig sind 1.720,40 Euro.
`;

test('minutes: a thing that is moved replaces its decision, and the deadline of its matter falls with a new one', () => {
  const facts = readFacts(minutes);
  assert.deepEqual(
    facts.replaced.map(({ text, by }) => [text, by.line]),
    [['Seerunde, 6. September: 8 ja, 2 nein.', 15]],
  );
  assert.ok(!facts.decisions.some(({ text }) => text.includes('6. September:')));
  assert.match(old(minutes).join('; '), /^6\. September \(9\) by 15.*1\. August \(10\) by 17.*2\.120,40 Euro \(5\) by 19/);
});

const chat = `[01/04/2025, 09:00:00] Ugo: plan: the kiln on FRIDAY 16 MAY
[01/04/2025, 09:05:00] Ida: decision on clay: Marl & Sons, incl. delivery. 640 + VAT. Pia can you order it?
[01/04/2025, 09:30:00] Pia: ordered, 16 May 9am
[02/04/2025, 10:00:00] Ugo: well that is too early. then kiln on Fri 23 May
[02/04/2025, 11:00:00] Pia: they have Thursday 22 May, NOT the 23rd
[02/04/2025, 11:05:00] Ugo: so FINAL: kiln 22 May. everybody brings an apron by Tue 20 May
[03/04/2025, 08:00:00] Ida: Kanto just called, the glaze comes on 12 May
[03/04/2025, 09:00:00] Ida: Kanto: new date now. Wed 14 May between 8 and 10
[04/04/2025, 09:00:00] Ugo: @Ida pls pay the deposit by Mon 5 May
[04/04/2025, 09:10:00] Ugo: let me think. can we cover the yard
[04/04/2025, 09:20:00] Pia: I can get 2 tarps, 9 each
[04/04/2025, 09:30:00] Pia: I will fight for the blue one
`;

test('chat: a day that was moved twice is replaced by the last one, and what stands on it is no decision any more', () => {
  const facts = readFacts(chat);
  assert.deepEqual(
    old(chat),
    ['Friday 16 May (1) by 5', '16 May (3) by 5', 'Fri 23 May (4) by 5', '12 May (7) by 8'].toSorted(
      (a, b) => old(chat).indexOf(a) - old(chat).indexOf(b),
    ),
  );
  const told = facts.decisions.map(({ text }) => text).join('\n');
  assert.match(told, /Marl & Sons, incl\. delivery\. 640 \+ VAT/);
  assert.match(told, /FINAL: kiln 22 May/);
  assert.doesNotMatch(told, /^ordered|23 May/m);
});

test('chat: opinions, offers that nobody asked for and thoughts are no tasks; a done one is told as done', () => {
  assert.deepEqual(
    readFacts(chat).actions.map(({ who, due, done }) => [who, due, done]),
    [
      ['Pia', null, true],
      ['everybody', 'Tue 20 May', false],
      ['Ida', 'Mon 5 May', false],
    ],
  );
});

test('chat: "is it still the 16th" is answered by what replaced that day, and "what am I to do" by the tasks of the person named', async () => {
  const told = await read("I'm back. Is it still the 16th, what's still hanging and what am I (Ida) supposed to do and by when?", chat);
  assert.match(told, /Is it still the 16th\*\*\n\nA later sentence replaced that day:/);
  const own = told.split('supposed to do and by when**')[1]!.split('\n## ')[0]!;
  assert.match(own, /\| Ida \| @Ida pls pay the deposit by Mon 5 May \|/);
  assert.doesNotMatch(own, /everybody|Pia \|/);
});

test('minutes in French: the vote on a day falls when the day is moved, and who tells of that day is not replaced', () => {
  const text = `# Compte rendu de la réunion, mardi 14 janvier 2025

### 1. Bal

Vote : 14 juin au parc : 3 voix pour, 1 contre.

### 2. Divers

- Solde au 31 décembre : 2 310,50 euros
- On signale que le 14 juin est férié. Le bal est reporté au 21 juin. 4 voix pour.
- Il faut lire le solde : 2 190,50 euros, et non 2 310,50.
`;
  assert.deepEqual(old(text), ['14 juin (5) by 10', '2 310,50 euros (9) by 11']);
  assert.deepEqual(
    readFacts(text).replaced.map(({ line }) => line),
    [5],
  );
});

test('mails: a corrected day and an old figure fall, also where the newest mail stands first', () => {
  const mails = `From: Ivo Lund
To: Rhea Stone
Date: Tue, 6 May 2025 10:30

Sorry, the delivery was on Friday 25 April, not 26. More soon.

From: Rhea Stone
To: Ivo Lund
Date: Mon, 5 May 2025 09:00

The first quotation (780) was only for the frame. New quotation attached: 910 including VAT.

From: Ivo Lund
To: Dina Falk
Date: Fri, 2 May 2025 09:00

Please find attached the quotation of Glas Horn over 780. The delivery was on 26 April.
`;
  assert.deepEqual(old(mails), ['26 April (17) by 5', '780 (17) by 11']);
});

test('a question for advice is not answered by a line with the same word', async () => {
  const told = await read(
    'What should our next step be?',
    'The first step was on Monday in the yard.\nThe second step is steep and wet.\n',
  );
  assert.match(told, /\*\*What should our next step be\?\*\*\n\nNot answered by the built-in rules\.\n/);
});

test('a thing of short words that is moved replaces its decision, and what stands under a confidential heading is no main sentence', async () => {
  const text = `MINUTES of the meeting, Tuesday 4 February 2025

Present: Dora Shaw, Fran Petrie

1. Fun run
Agreed: fun run on Sunday 8 June, 11 to 4.

2. CONFIDENTIAL - plot 9
Rent not paid since July, Dora writes to the tenant by 20 February.

3. Other
The fun run is moved to Sunday 15 June.
`;
  assert.deepEqual(
    readFacts(text).replaced.map(({ line, by }) => [line, by.line]),
    [[6, 12]],
  );
  const told = await read('What was decided in the end and who has to do what by when?', text);
  assert.match(told, /\| Dora \|.*confidential\)/);
  assert.doesNotMatch((told.split('in its own sentences')[1] ?? '').split('\n## ')[0]!, /Rent not paid|8 June/);
});
