/** Logbooks that people keep: every entry with its own day and time, and what later entries correct or add. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockEvents } from '../../../../src/providers/model/offline/text/clock-events.ts';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { passagesOf } from '../../../../src/providers/model/offline/text/passages.ts';
import { readUnits } from '../../../../src/providers/model/offline/text/units.ts';
import { runAgent } from './agent-loop.ts';

const greenhouse = `Greenhouse book, nursery Halden

4 March 2026
07:15 Humidity in bay 1 61 %
    Vents closed.
13:40 Humidity in bay 1 88 %
    Mist line stuck because of a torn filter.

5 March
07:20 Humidity in bay 1 58 %
09:05 Correction: the 13:40 reading of 4 March was 68 %, not 88 %.
23:50 Heater off.
00:30 Heater on again.

6 March
08:00 Vents open.
    Addendum: the torn filter was replaced on 5 March at 10:00.
`;
const read = async (text: string, prompt: string) =>
  (await runAgent(prompt, { files: { 'book.txt': text } })).workspace.text('summary.md').replace(/\\([|<>[\]`*])/g, '$1');
/** What stands below the question, up to the next one. */
const under = (told: string, question: string) => {
  assert.ok(told.includes(`**${question}**`), `${question} is no question of the report:\n${told.slice(0, 1500)}`);
  return told.split(`**${question}**`)[1]!.split('\n**')[0]!.split('\n## ')[0]!;
};

test('every entry of a log has the day above it or its own, and the lines below it belong to it', () => {
  const { entries } = readFacts(greenhouse).logbook!;
  assert.deepEqual(
    entries.map(({ day, time, line, lines }) => [day, time, line, lines.length]),
    [
      ['2026-03-04', '07:15', 4, 2],
      ['2026-03-04', '13:40', 6, 2],
      ['2026-03-05', '07:20', 10, 1],
      ['2026-03-05', '09:05', 11, 1],
      ['2026-03-05', '23:50', 12, 1],
      ['2026-03-06', '00:30', 13, 1],
      ['2026-03-06', '08:00', 16, 2],
    ],
  );
});

test('a figure that a later entry corrects is told with both values, and the later one counts', async () => {
  const told = await read(
    greenhouse,
    'What does book.txt say? Which entries were corrected or added later? What was the lowest and the highest humidity? What was measured on 4 March at 13:40?',
  );
  const changes = under(told, 'Which entries were corrected or added later');
  assert.match(changes, /\| correction \| .* \| 11 \| 88 % \| 68 % \| 2026-03-04 13:40, line 6 \|/);
  assert.match(changes, /\| later addition \| Addendum: the torn filter .* \| 17 \|/);
  const bounds = under(told, 'What was the lowest and the highest humidity');
  assert.match(bounds, /highest: 68 %, 2026-03-04 13:40 \(line 6, corrected on line 11 from 88 %\), of 3 readings/);
  assert.match(bounds, /lowest: 58 %, 2026-03-05 07:20/);
  assert.match(under(told, 'What was measured on 4 March at 13:40'), /Humidity in bay 1 88 % .*\[88 % corrected to 68 % on line 11\]/);
});

test('a correction that fits no certain figure is told and changes none', () => {
  const twice = greenhouse.replace('13:40 Humidity in bay 1 88 %', '13:40 Humidity in bay 1 88 %, in bay 2 88 %');
  const [change] = readFacts(twice).logbook!.changes;
  assert.deepEqual([change!.kind, change!.corrected], ['correction', null]);
});

test('the figures of all lines of a long log are told', () => {
  const lines = Array.from(
    { length: 160 },
    (_, i) => `2026-04-${String((i % 30) + 1).padStart(2, '0')} 06:00 Level ${200 + i} cm, flow ${40 + i} l/s`,
  );
  const { figures, logbook } = readFacts(`Weir book\n${lines.join('\n')}\n`);
  assert.equal(logbook!.entries.length, 160);
  assert.deepEqual([figures.length, figures.at(-1)!.line], [320, 161]);
});

test('a German log with short days and a French one with hours are read alike', () => {
  const german = readFacts(`Heizbuch 2025

Di 4.11. 06:45 Vorlauf 48 °C
   Pumpe an
5.11. 07:00 Vorlauf 84 °C
5.11. 07:30 Berichtigung: um 07:00 waren es 44 °C statt 84 °C
6.11. 06:50 Vorlauf 51 °C
`).logbook!;
  assert.deepEqual(
    german.entries.map(({ day, time }) => `${day} ${time}`),
    ['2025-11-04 06:45', '2025-11-05 07:00', '2025-11-05 07:30', '2025-11-06 06:50'],
  );
  assert.deepEqual([german.changes[0]!.corrected?.before, german.changes[0]!.corrected?.now], ['84', '44']);
  const french = readFacts(`Journal du phare

8 mai 2026
6h10 : visibilité 12 km.
21h05 : feu allumé.

9 mai
7h00 : rectificatif : la visibilité de 6h10 du 8 mai était de 2 km et non de 12 km.
`).logbook!;
  assert.deepEqual(
    french.entries.map(({ day, time }) => `${day} ${time}`),
    ['2026-05-08 06:10', '2026-05-08 21:05', '2026-05-09 07:00'],
  );
  assert.equal(french.changes[0]!.corrected?.now, '2 km');
});

test('the day on which a text was written is not the day of its entries', () => {
  const report = greenhouse
    .replace('4 March 2026', '# Report\n\nWritten by Ines Vogt, 9 March 2026\n\n## Course')
    .replace('5 March\n', '\n')
    .replace('6 March\n', '\n');
  const { entries } = readFacts(report).logbook!;
  assert.deepEqual([...new Set(entries.map(({ day }) => day))], [null]);
});

test('a chat, a list of years and minutes in prose are no logbooks', () => {
  const chat = '[01/06/2026, 09:00] Ada: Hello\n[01/06/2026, 09:01] Bo: Hi\n[02/06/2026, 09:02] Ada: Bye\n[03/06/2026, 09:02] Bo: Bye\n';
  const years = '1998 the mill was built\n2004 the mill burnt\n2011 the mill was sold\n';
  for (const text of [chat, years, 'Minutes\n\nWe met on 3 May 2026. The next meeting is on 4 June.\n'])
    assert.equal(readFacts(text).logbook, null);
});

test('a valve that was left open is no open question', () => {
  const { questions } = readFacts(`${greenhouse}10:00 The drain valve was left open.\n`);
  assert.deepEqual(questions, []);
});

test('a day or a time that an entry names in passing does not move the entries after it', () => {
  const days = clockEvents(passagesOf(readUnits(`${greenhouse}11:00 Vents closed.\n`)), '2026').map(
    ({ minutes, time }) => `${Math.floor(minutes / 1440)} ${time}`,
  );
  assert.deepEqual(days, ['0 07:15', '0 13:40', '1 07:20', '1 09:05', '1 23:50', '2 00:30', '2 08:00', '1 10:00', '2 11:00']);
});

test('a number that names a thing is no reading, and only the readings of the thing asked for count', async () => {
  const two = greenhouse.replace('58 %', '58 %, humidity in bay 2 91 %');
  const told = await read(two, 'What was the highest humidity in bay 1 in book.txt? What was the highest humidity?');
  assert.match(under(told, 'What was the highest humidity in bay 1 in book.txt'), /highest: 68 %.*of 3 readings/);
  assert.match(under(told, 'What was the highest humidity'), /highest: 91 %.*of 4 readings/);
});
