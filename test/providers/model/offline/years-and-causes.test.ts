/** The year of a date that names none, and causes that a text states in several tongues. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { runAgent } from './agent-loop.ts';

const days = (text: string, name = '') => readFacts(text, name).dates.map(({ written, iso }) => `${written}: ${iso}`);
const minutes = (date: string, body: string) => `Minutes of the choir\nDate: ${date}\nPresent: Ina Berg, Carl Roth\n\n${body}\n`;

test('a day shortly before or after the turn of the year is of the nearer year', () => {
  assert.deepEqual(days(minutes('12 December 2025', 'Rehearsals begin again on 9 January.')).slice(1), ['9 January: 2026-01-09']);
  assert.deepEqual(days(minutes('8 January 2026', 'The concert on 20 December was sold out.')).slice(1), ['20 December: 2025-12-20']);
});

test('a date beside a full date has its year, and a span may pass the turn of the year', () => {
  assert.deepEqual(days(minutes('3 March 2026', 'The hall was closed from 20 December 2023 to 7 January.')).slice(1), [
    '20 December 2023: 2023-12-20',
    '7 January: 2024-01-07',
  ]);
  assert.deepEqual(days(minutes('3 March 2026', 'It was closed from 28 November to 5 February 2024.')).slice(1), [
    '28 November: 2023-11-28',
    '5 February 2024: 2024-02-05',
  ]);
});

test('words such as "last year" and headings with a year decide', () => {
  assert.deepEqual(days(minutes('14. Februar 2026', 'Im Jahr zuvor war die Messe am 10. Mai.')).slice(1), ['10. Mai: 2025-05-10']);
  assert.deepEqual(days('# Tours\n\n## Season 2024\n\nWe rode on 3 June.\n\n## Season 2025\n\nWe rode on 8 June.\n'), [
    '3 June: 2024-06-03',
    '8 June: 2025-06-08',
  ]);
});

test('without a date of its own a text takes the year of its file, or the only year that it names, else none', () => {
  const text = 'We planted the hedge on 3 June.\n';
  assert.deepEqual(days(text, 'garden-2024.txt'), ['3 June: 2024-06-03']);
  assert.deepEqual(days(text), ['3 June: null']);
  const long =
    'A long first line about the garden and the many people who came to help there, all of whom we thank once more, every one of them.\n';
  assert.deepEqual(days(`${long}We planted the hedge on 3 June. It was bought on 4 May 2023 in the town.\n`), [
    '3 June: 2023-06-03',
    '4 May 2023: 2023-05-04',
  ]);
  assert.equal(
    days(`${long}It was bought on 4 May 2023 in the town. It was cut on 5 May 2024 by us. We planted it all on 3 June.\n`).at(-1),
    '3 June: null',
  );
});

const told = async (text: string, prompt: string) => (await runAgent(prompt, { files: { 'text.txt': text } })).workspace.text('summary.md');

test('a stated cause is told in German, French, Spanish and Italian', async () => {
  for (const [text, prompt, says] of [
    [
      'Die Fähre blieb am 3. Mai im Hafen. Wegen eines Lecks durfte sie nicht fahren.\n',
      'Warum blieb die Fähre im Hafen?',
      /Der Text nennt als Ursache:/,
    ],
    [
      'Le bac est resté à quai. Il ne pouvait pas partir à cause d’une fuite.\n',
      'Pourquoi le bac est-il resté à quai ?',
      /Le texte donne comme cause :/,
    ],
    ['El ferry no salió. Quedó en el puerto debido a una fuga.\n', '¿Por qué no salió el ferry?', /The text gives as the cause:/],
    [
      'Il traghetto è rimasto in porto a causa di una perdita.\n',
      'Perché il traghetto è rimasto in porto?',
      /The text gives as the cause:/,
    ],
  ] as const)
    assert.match(await told(text, prompt), says, prompt);
});

test('what is only suspected at first and established later is told as a cause', async () => {
  const text = `# Pump report

## First look

The pump of the fountain stopped on Monday. Perhaps the seal is worn; the cause is not known yet.

## Second look

On Thursday the housing was opened. It turned out that a stone had probably blocked the wheel.
`;
  const report = await told(text, 'Why did the pump of the fountain stop?');
  assert.doesNotMatch(report, /The cause is not established/);
  assert.match(report, /It turned out that a stone/);
});

test('a cause of another matter that shares one word with the question is not told', async () => {
  const text =
    'The oven stood still on Monday. Because of a torn belt nothing could be baked.\n\nWe had a stand at the fair.\nThe till was fuller there because of the sun.\n';
  const report = await told(text, 'Why did the oven stand still?');
  const answer = report.split('Why did the oven stand still**')[1]!.split('\n## ')[0]!;
  assert.match(answer, /torn belt/);
  assert.doesNotMatch(answer, /sun/);
});
