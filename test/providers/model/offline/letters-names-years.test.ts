/** Mails with their headers, requests and sums; names that are none; the year of a day by the course of the text; causes that are only near. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { runAgent } from './agent-loop.ts';

const thread = `From: Rhea Stone <rhea@kiln.example>
To: Ivo Lund <ivo@kiln.example>
Date: Thu, 15 May 2025 16:00
Subject: Fwd: vase

Ivo, here is all of it.

From: Nora Quist
To: Rhea Stone
Date: Wed, 7 May 2025 09:10

Dear Rhea, please find attached my list.

   new glaze                  1,310.00
   two trips (2 x 40)            80.00
   ------------------------------------
                              1,390.00

Please let me have your answer by 12 May.

From: Pavel Orr (Quay Insurance)
To: Rhea Stone
Date: Tue, 6 May 2025 11:00

Before we can decide we need:
  1. the receipt of the vase
  2. two photos
Please note that the excess is 250 per claim.
Unless we have everything by 30 May we close the file.

From: Tilda Swan
To: Rhea Stone
Date: Mon, 5 May 2025 08:00

Who wrote "we pay for all of it"??? From now on only Rhea writes to her.
`;
const read = async (prompt: string, files: Record<string, string>) => {
  const { workspace } = await runAgent(prompt, { files });
  return workspace.text(Object.keys(files).length === 1 ? 'summary.md' : 'report.md');
};

test('a sentence with "wrote" or "writes" is no header of a mail', () => {
  assert.deepEqual(
    readFacts(thread).messages.map(({ from }) => from),
    ['Rhea Stone', 'Nora Quist', 'Pavel Orr (Quay Insurance)', 'Tilda Swan'],
  );
});

test('what a mail lists as needed is asked of its reader until the day after the list; a salutation is nobody, and what passed is told so', () => {
  assert.deepEqual(
    readFacts(thread).actions.map(({ who, what, iso, note }) => [who, what, iso, note.includes('passed before')]),
    [
      ['recipient: Rhea Stone', 'Please let me have your answer by 12 May.', '2025-05-12', true],
      ['recipient: Rhea Stone', 'the receipt of the vase', '2025-05-30', false],
      ['recipient: Rhea Stone', 'two photos', '2025-05-30', false],
    ],
  );
});

test('sums of a mail answer what the money is about, without a currency too; who wants to know it asks for nothing', async () => {
  const told = await read('My boss wants to know where we stand: what is the money about?', { 'vase.eml': thread });
  const money = told.split('money about')[1]!.split('\n## ')[0]!;
  for (const sum of ['new glaze 1,310\\.00', 'excess is 250']) assert.match(money, new RegExp(sum));
  assert.match(told, /where we stand\*\*\n\nThe newest message says:/);
});

test('codes, shouted words, weekdays of entries and firms are no names, and a genitive is no other person', () => {
  const log = `WORKSHOP LOG 2024/25

02.12. Mo K2 stopped, called Orla
03.12. Tu CORRECTION K2 is fine NOT broken, it was the K3 and K4 that had to be oiled by the man from the town
09.12. Mo Mr Tarn's lathe is back and it works with the old belt
14.01. Tu insurance for the K2 has to be in by 5 March
`;
  const facts = readFacts(log);
  assert.deepEqual(
    facts.people.map(({ text }) => text),
    ['Mr Tarn'],
  );
  assert.ok(
    facts.otherNames.every(({ text }) => !/K\d|Mo |Tu |NOT|CORRECTION/.test(text)),
    facts.otherNames.map(({ text }) => text).join(),
  );
  assert.deepEqual(
    facts.dates.map(({ iso }) => iso),
    ['2025-03-05'],
  );
});

test('under a heading with a day, a month that lies before it is of the next year', () => {
  const notes =
    '# Shop notes\n\nForms came in from 4 November to 2 December 2024.\n\n## Open\n\n- nothing\n\n## Meeting 12 December\n\n- Corin asks the landlord for a date, until 9 January\n';
  assert.deepEqual(
    readFacts(notes).actions.map(({ who, iso }) => [who, iso]),
    [['Corin', '2025-01-09']],
  );
});

test('notes by days: a cause that nobody names is not supposed from another word; what hindered in the month is told as such', async () => {
  const notes = `# Pool notes

## 3 April - Ida

The new pump is in. Probably two weeks until the next check.

## 6 May - Ida

The bridge is closed since Monday, they say one week, probably two.

## 20 May - Tom

Two buses were cancelled by the company.

## 2 June - Tom

Bridge open again.
`;
  const told = await read('Why did the visits sag in May?', { 'notes.md': notes });
  assert.doesNotMatch(told, /cause is not established/i);
  assert.match(told, /does not name these as the cause.*\n\n.*\n.*\n\| The bridge is closed since Monday.*\n\| Two buses were cancelled/);
});
