/** Statements of a text that do not fit together are told with the figures that show it, and sound texts are not accused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { runAgent } from './agent-loop.ts';

const minutes = `Minutes of the harbour board
Date: Monday, 3 March 2025
Present: Ann Berg (chair), Paul Clay
Apologies: Sam Holt

1. Budget
The budget is EUR 1,000. Spent so far: ropes EUR 200, paint EUR 150.50, lamps EUR 300. That makes EUR 600.50, so EUR 399.50 remain.

2. Works
The launch of the ferry is set for 20 March. The yard is closed from 17 March to 28 March.
Sam orders the paint by 10 March.

Next meeting: Monday, 8 April 2025
`;

test('a wrong weekday, a wrong sum, a plan in a closed period and a task of an absent person are told with their lines', () => {
  assert.deepEqual(readFacts(minutes).contradictions, [
    {
      text: 'The 3 amounts of line 7 (EUR 200, EUR 150.50, EUR 300) add up to EUR 650.50; the text says EUR 600.50, EUR 50 too little. So EUR 349.50 of EUR 1,000 remain, not EUR 399.50.',
      line: 7,
    },
    {
      text: '20 March ("The launch of the ferry is set for 20 March.") lies within 17 March to 28 March ("The yard is closed from 17 March to 28 March.", line 10).',
      line: 10,
    },
    { text: 'Sam Holt has a task ("Sam orders the paint by 10 March.") but was absent (line 4).', line: 11 },
    { text: '"Monday, 8 April 2025": 2025-04-08 is a Tuesday.', line: 13 },
  ]);
});

test('a text that fits is not accused, nor are amounts of several units added up', () => {
  const sound = minutes
    .replace('600.50, so EUR 399.50', '650.50, so EUR 349.50')
    .replace('20 March', '2 April')
    .replace('Paul Clay', 'Sam Clay')
    .replace('Monday, 8', 'Tuesday, 8');
  assert.deepEqual(readFacts(sound).contradictions, []);
  const mixed = 'Minutes\n\nRopes EUR 200 for 3 boats, paint EUR 150, lamps USD 300. That makes EUR 900.\n';
  assert.deepEqual(readFacts(mixed).contradictions, []);
});

test('the question whether something does not fit together is answered, also if nothing is found', async () => {
  const report = async (files: Record<string, string>, prompt: string) => (await runAgent(prompt, { files })).workspace.text('summary.md');
  const found = await report({ 'board.txt': minutes }, 'List the decisions of board.txt. Does anything in it not fit together?');
  assert.match(found, /\*\*Does anything in it not fit together\*\*\n\n.*\n.*\n\| The 3 amounts of line 7 /);
  const none = await report({ 'sea.txt': 'The sea is wide.\nThe sea is deep.\n' }, 'Are there contradictions in sea.txt?');
  assert.match(none, /Nothing wrong was found by the rules\. Nothing in the text could be checked\. The rules check weekdays of dates/);
  const unasked = await report({ 'board.txt': minutes }, 'Summarise board.txt');
  assert.match(unasked, /### What does not fit together\n\n.*\n.*\n\| The 3 amounts of line 7 /);
});

const financed = (middle: string) => `# Tower

The repair costs €2.6 million. The heritage fund gives €1.1 million, the county €850,000, and the trust €400,000. A further €150,000 was raised by residents.
${middle}`;

test('amounts of neighbouring sentences that pay for a stated cost are compared with it', () => {
  assert.deepEqual(readFacts(financed('')).contradictions, [
    {
      text: 'The 4 amounts of line 3 that pay for it (€1.1 million, €850,000, €400,000, €150,000) add up to €2.50 million; the stated cost is €2.6 million, €0.10 million more.',
      line: 3,
    },
  ]);
  const one =
    'The hall costs €2.6 million. Of this €1.2 million come from the state, €0.9 million from the town, €0.4 million from a lottery.\n';
  assert.match(readFacts(one).contradictions[0]!.text, /add up to €2\.50 million; .* €0\.10 million more\.$/);
  assert.deepEqual(readFacts(one.replace('0.4', '0.5')).contradictions, []);
});

test('sources of which one is the rest are told where they make the whole cost', async () => {
  const text =
    'Bridge\n\nThe works will cost £8.4 million. The state pays £5.9 million, the county £1.8 million; the remaining £0.7 million comes from the town, which has not yet voted on it.\n';
  const { workspace } = await runAgent('Do the figures in bridge.txt add up, and what is not settled yet?', {
    files: { 'bridge.txt': text },
  });
  const told = workspace.text('summary.md');
  assert.match(told, /\(£5\.9 million, £1\.8 million, £0\.7 million\) add up to the stated cost of £8\.4 million/);
  assert.match(told, /has not yet voted on it\. \| put off or not decided/);
});

test('the cost may stand among other figures, and its sources in the next paragraph', () => {
  const wing =
    'New wing\n\nThe wing has 32 bays, 12 more than the old one, and cost £48 million.\n\nThe money came from three sources: the board paid £30 million, a fund £12.5 million, and an appeal raised £4.5 million.\n';
  assert.match(readFacts(wing).contradictions[0]!.text, /add up to £47 million; the stated cost is £48 million, £1 million more\.$/);
  assert.deepEqual(readFacts(wing.replace('cost £48', 'cost about £48')).contradictions, []);
});

test('sources that are said not to be all, or that are uncertain or in words, are not added up', () => {
  assert.deepEqual(readFacts(financed('The rest is still missing.')).contradictions, []);
  assert.deepEqual(readFacts(financed('').replace('and the trust', 'and the trust up to')).contradictions, []);
  assert.deepEqual(readFacts(financed('').replace('was raised', 'and two hundred thousand were raised')).contradictions, []);
  assert.deepEqual(readFacts(financed('').replace('€1.1 million', '€0.1 million')).contradictions, []);
  assert.deepEqual(readFacts(financed('').replace('The repair costs', 'Leaving it would cost')).contradictions, []);
  assert.deepEqual(
    readFacts(financed('').replace('the county €850,000,', 'the county grows from €450,000 to €850,000,')).contradictions,
    [],
  );
});

test('an answer that nothing is wrong names what could be checked, and says so where no total could be', async () => {
  const report = async (text: string) =>
    (await runAgent('Do the figures in note.txt add up?', { files: { 'note.txt': text } })).workspace.text('summary.md');
  const right = financed('').replace('€2.6 million', '€2.5 million');
  assert.match(
    await report(right),
    /Nothing wrong was found by the rules\. Checked: totals \(1\)\. The 4 amounts of line 3 .* add up to the stated cost of €2\.5 million\. The rules check/,
  );
  const share = 'The club has 36 lockers. Of them 9 of 36 lockers (25 %) are free. It met on Monday, 3 March 2025.\n';
  assert.match(
    await report(share),
    /Checked: weekdays of dates \(1\), stated changes, products or shares \(1\)\. No total could be checked\./,
  );
});

test('two dates and two amounts of one thing are told, with both lines', async () => {
  const text = `Protokoll der Sitzung, Chor Altrode
Datum: 12. Januar 2026

TOP 1 Sommerkonzert
Das Sommerkonzert findet am 6. Juni statt.
Die Miete für die Bühne beträgt 320 Euro.

TOP 2 Kasse
Die Miete für die Bühne beim Sommerkonzert beträgt 230 Euro.
Das Sommerkonzert findet am 13. Juni statt.
`;
  assert.deepEqual(
    readFacts(text).contradictions.map(({ text: told, line }) => [told.slice(0, 60), line]),
    [
      ['The text says 320 Euro ("Die Miete für die Bühne beträgt 320', 9],
      ['The text says 6. Juni ("Das Sommerkonzert findet am 6. Juni ', 10],
    ].map(([told, line]) => [String(told).slice(0, 60), line]),
  );
  const { workspace } = await runAgent('Gibt es Widersprüche in protokoll.txt?', { files: { 'protokoll.txt': text } });
  assert.match(workspace.text('summary.md'), /Gibt es Widersprüche in protokoll\.txt\*\*\n\n.*\n.*\n\| The text says 320 Euro/);
});

test('dates and amounts of other things, of other times and of changes are no contradiction', () => {
  for (const text of [
    'The fair is on 9 May.\n\nThe supper is on 16 May.\n',
    'The fair is on 9 May.\n\nLast year the fair was on 16 May.\n',
    'The course starts on 9 May.\n\nThe course ends on 16 May.\n',
    'The fair is on 9 May.\n\nThe fair is now on 16 May.\n',
    '# Tent\n\nThe price is 40 euros.\n\n# Hall\n\nThe price is 90 euros.\n',
    'A ticket for adults costs 9 euros.\n\nA ticket for children costs 4 euros.\n',
  ])
    assert.deepEqual(readFacts(text).contradictions, [], text);
});
